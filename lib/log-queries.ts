import { CfnQueryDefinition, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

interface Logs {
  /** Those of all functions. */
  readonly functions: readonly ILogGroup[];
  /** That of API Gateway: one line for each request, also for those that reach no function. */
  readonly access: ILogGroup;
}

interface Query {
  readonly of: keyof Logs | 'both';
  readonly text: string;
}

/** The fields of the completion line. */
const COMPLETION = 'operation, status, code, duration_ms, key_id, calls';
const CAUSE = 'cause_kind, cause, cause_provider, cause_operation, cause_reason';

/** The queries of the runbooks, by the names under which docs/operators/operations.md and alarms.md tell of them. A person writes an id in the place of `<id>`. */
const LOG_QUERIES = {
  'one request': {
    of: 'both',
    // The lines of Lambda itself have its own id, which the line of the access log has too.
    text: `fields @timestamp, event, ${COMPLETION}, ${CAUSE}, provider, provider_operation, outcome, error_message, refusal, address, latency_ms, function_request_id, type, record.status, @message
| filter request_id = "<id>" or requestId = "<function_request_id>" or record.requestId = "<function_request_id>"
| sort @timestamp`,
  },
  'requests of a seller': {
    of: 'functions',
    text: `fields @timestamp, request_id, ${COMPLETION}, ${CAUSE}
| filter event = "request_completed" and seller_id = "<id>"
| sort @timestamp desc
| limit 200`,
  },
  'requests of a key': {
    of: 'access',
    text: `filter key_id = "<id>"
| stats count() as requests, earliest(time), latest(time) by address, method, resource, status`,
  },
  'requests that cost': {
    of: 'functions',
    text: `filter event = "request_completed" and operation in ["create-user", "check-user", "send-otp"]
| stats count() as requests by seller_id, key_id, operation, code
| sort requests desc`,
  },
  '5xx by cause': {
    of: 'functions',
    text: `filter event = "request_completed" and status >= 500
| stats count() as responses by operation, code, ${CAUSE}
| sort responses desc`,
  },
  '5xx by seller': {
    of: 'access',
    text: `filter status >= 500
| stats count() as responses by seller_id, resource, status, refusal, function_status
| sort responses desc`,
  },
  'internal errors': {
    of: 'functions',
    text: `filter event = "request_failed"
| stats count() as failures, latest(request_id) by operation, error_name, error_message
| sort failures desc`,
  },
  'slow lists': {
    of: 'functions',
    text: `filter event = "request_completed" and operation = "list-users"
| sort duration_ms desc
| display request_id, seller_id, duration_ms, calls`,
  },
  'calls without an answer': {
    of: 'functions',
    text: `filter event in ["rate_limiter_unreachable", "secret_refresh_failed"] or cause_kind = "dependency" or outcome = "unavailable"
| stats count() as calls by event, operation, secret, cause, error_name
| sort calls desc`,
  },
  'failing providers': {
    of: 'functions',
    text: `filter event = "provider_failed" or cause_kind = "provider"
| stats count() as failures by event, provider, provider_operation, reason, cause_provider, cause_operation, cause_reason
| sort failures desc`,
  },
  'unreadable responses': {
    of: 'functions',
    text: `filter event = "request_completed" and cause_reason in ["no_verdict", "malformed"]
| stats count() as responses by seller_id, cause_provider, cause_operation`,
  },
  'codes by seller': {
    of: 'functions',
    text: `filter event in ["code_sent", "code_redeemed"]
| stats count() as codes by event, provider, seller_id`,
  },
  'wrong codes': {
    of: 'access',
    text: `filter resource = "/v1/auth/otp/verify"
| stats count() as requests by seller_id, key_id, status
| sort requests desc`,
  },
  'limits used up': {
    of: 'functions',
    text: `filter event in ["key_limit_used_up", "failed_verifies_above_limit"]
| stats count() as times by event, limit, key_id`,
  },
  'refused by address': {
    of: 'access',
    // Two comparisons: the log has the status as a text, and `in` compares texts with numbers. WAF_FILTERED is a block of the firewall.
    text: `filter status = 401 or status = 429
| stats count() as requests by address, resource, status, refusal
| sort requests desc`,
  },
} as const satisfies Readonly<Record<string, Query>>;

/** Saves the queries for CloudWatch Logs Insights, as `<name of the stack>/<name of the query>`. */
export const addLogQueries = (scope: Construct, stackName: string, logs: Logs): void => {
  const groupsOf = {
    functions: logs.functions,
    access: [logs.access],
    both: [logs.access, ...logs.functions],
  };
  for (const [name, { of, text }] of Object.entries(LOG_QUERIES)) {
    new CfnQueryDefinition(scope, `Query-${name}`, {
      name: `${stackName}/${name}`,
      queryString: text,
      logGroupNames: groupsOf[of].map(({ logGroupName }) => logGroupName),
    });
  }
};
