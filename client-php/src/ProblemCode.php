<?php

declare(strict_types=1);

namespace BuyerLinking;

/** The problem codes of the service. Treat a code that is not in this list by its status: a later version may add codes. */
final class ProblemCode
{
    public const MALFORMED_JSON = 'malformed_json';
    public const UNSUPPORTED_MEDIA_TYPE = 'unsupported_media_type';
    public const BODY_TOO_LARGE = 'body_too_large';
    public const VALIDATION_FAILED = 'validation_failed';
    public const INVALID_API_KEY = 'invalid_api_key';
    public const INVALID_ACCESS_TOKEN = 'invalid_access_token';
    public const INSUFFICIENT_SCOPE = 'insufficient_scope';
    public const LINK_REFUSED = 'link_refused';
    public const TOO_MANY_SECRETS = 'too_many_secrets';
    public const NOT_FOUND = 'not_found';
    public const USER_NOT_FOUND = 'user_not_found';
    public const BUYER_NOT_REGISTERED = 'buyer_not_registered';
    public const USER_CONFLICT = 'user_conflict';
    public const EXTERNAL_ID_CONFLICT = 'external_id_conflict';
    public const IDENTITY_MISMATCH = 'identity_mismatch';
    public const PHONE_NOT_OWNED = 'phone_not_owned';
    public const CODE_REJECTED = 'code_rejected';
    public const EVENTS_EXPIRED = 'events_expired';
    public const RESEND_TOO_SOON = 'resend_too_soon';
    public const TOO_MANY_ATTEMPTS = 'too_many_attempts';
    public const RATE_LIMIT_EXCEEDED = 'rate_limit_exceeded';
    public const VERIFICATION_UNAVAILABLE = 'verification_unavailable';
    public const SMS_UNAVAILABLE = 'sms_unavailable';
    public const SERVICE_UNAVAILABLE = 'service_unavailable';
    public const INTERNAL = 'internal';

    private function __construct()
    {
    }
}
