"""Calls the Buyer Linking API with the standard library only. Python 3.9 or newer.

    export BUYER_LINKING_URL=https://… BUYER_LINKING_API_KEY=blk_…

    from buyer_linking import Problem, call, confirm_buyer, events, find_by_phone, link_buyer, users

It is made for web requests: the waits between the attempts of a request are together at most 3 seconds, and what takes longer, a limit that
is used up or a timeout, is raised at once. A program in the background passes max_wait_seconds=90.
"""

import datetime
import http.client
import itertools
import json
import logging
import math
import os
import random
import re
import socket
import time
import urllib.error
import urllib.parse
import urllib.request

RETRIES = 3
# The sum of the waits of a request: two of a Retry-After of 1 with their jitter.
MAX_WAIT_SECONDS = 3
TIMEOUT_SECONDS = 30
# Clients that were refused together do not come back together.
MAX_JITTER_SECONDS = 0.5

_PATH = re.compile(r"/[!-~]*\Z")
_HEADER = re.compile(r"[ -~]+\Z")
_SAFE_ADDRESS = re.compile(r"https://|http://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(/|$)")


_log = logging.getLogger("buyer_linking")


class Problem(Exception):
    """An error response. Decide by `code`, `reason` and the code of each of `errors`; `body` is the whole problem.

    `retry_after`: seconds. It and `reason` are None if the problem has none.
    """

    def __init__(self, status, body):
        self.status, self.body, self.code = status, body, body.get("code", f"http_{status}")
        self.reason, self.retry_after = body.get("reason"), body.get("retry_after")
        self.request_id, self.errors = body.get("request_id"), body.get("errors", [])
        detail = body.get("detail", "the response is not from the service: check BUYER_LINKING_URL")
        super().__init__(f"{self.code}: {detail} {body.get('errors', '')}".rstrip())


class _TimedOut(ConnectionError):
    """No response within TIMEOUT_SECONDS."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would take the key and national ids to another address."""

    def redirect_request(self, *_):
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def _setting(name):
    value = os.environ.get(name, "").strip()
    if not value:
        raise ValueError(f"Set the environment variable {name}.")
    return value


def _send(method, path, body, access_token):
    """Returns the status and the body of a success."""
    url = _setting("BUYER_LINKING_URL").rstrip("/")
    if not _SAFE_ADDRESS.match(url):
        raise ValueError("BUYER_LINKING_URL must begin with https://, except on loopback.")
    if not _PATH.match(path):
        raise ValueError("The path has a character that must be escaped: urllib.parse.quote does it.")
    # A key from a file often ends with a line break.
    headers = {"X-Api-Key": _setting("BUYER_LINKING_API_KEY"), "Content-Type": "application/json"}
    if access_token is not None:
        headers["Authorization"] = f"Bearer {access_token}"
    if not all(_HEADER.match(value) for value in headers.values()):
        # The error of the library would show the value.
        raise ValueError("BUYER_LINKING_API_KEY or access_token has a character that none has.")
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data, headers, method=method)
    try:
        with _opener.open(request, timeout=TIMEOUT_SECONDS) as response:
            status, text = response.status, response.read()
    except urllib.error.HTTPError:
        raise
    except (OSError, http.client.HTTPException) as error:
        # Without the query, which can have a phone.
        address = f"{method} {url}{path.split('?')[0]}"
        reason = getattr(error, "reason", error)
        kind = _TimedOut if isinstance(reason, (TimeoutError, socket.timeout)) else ConnectionError
        raise kind(f"{address}: no response: {reason}") from error
    try:
        return status, json.loads(text or "null")
    except ValueError:  # Not from the service.
        raise Problem(status, {}) from None


def _problem_of(error):
    try:
        body = json.load(error)
    except ValueError:  # Not from the service.
        body = {}
    return Problem(error.code, body if isinstance(body, dict) else {})


def _may_repeat(status, code):
    # Each attempt of a check without a verdict can be another paid check.
    return code != "verification_unavailable" and status in (429, 500, 502, 503, 504)


def _seconds(text, otherwise):
    # A proxy may send a date.
    return float(text) + random.random() * MAX_JITTER_SECONDS if text is not None and text.isdecimal() else otherwise


def _repeat(method, path, body=None, access_token=None, max_wait_seconds=None, retries=None):
    """Returns the status and the body of the response."""
    # A code must not be sent or tried twice, a key not rotated twice.
    repeatable = not path.startswith(("/v1/auth/", "/v1/key/secrets"))
    left = MAX_WAIT_SECONDS if max_wait_seconds is None else max_wait_seconds
    last = RETRIES if retries is None else retries
    for attempt in itertools.count():
        wait = random.random() * 2 ** min(attempt, 5) / 4
        try:
            return _send(method, path, body, access_token)
        except urllib.error.HTTPError as error:
            failure = _problem_of(error)
            again = failure.code == "rate_limit_exceeded" or (repeatable and _may_repeat(error.code, failure.code))
            wait, slow = _seconds(error.headers.get("Retry-After"), wait), error.code == 429
        except ConnectionError as error:
            failure, again, slow = error, repeatable, isinstance(error, _TimedOut)
        if not again or attempt >= last or wait > left or (slow and max_wait_seconds is None):
            raise failure
        left -= wait
        _log.warning("waits %.1f s before retry %d: %s", wait, attempt + 1, getattr(failure, "code", "no response"))
        time.sleep(wait)


def call(method, path, body=None, access_token=None, max_wait_seconds=None):
    """Returns the body of the response. Repeats what is safe to repeat. Raises Problem and ConnectionError.

    `access_token`: of a buyer, to link it again or for its links. Each wait before a repetition is a warning of the logger "buyer_linking".
    `max_wait_seconds`: the longest sum of these waits; without it MAX_WAIT_SECONDS, and neither a 429 nor a timeout is repeated.
    """
    return _repeat(method, path, body, access_token, max_wait_seconds)[1]


def link_buyer(person, access_token=None, max_wait_seconds=None):
    """Links a buyer. Returns (user, is_new): is_new is False if you linked it before."""
    status, user = _repeat("POST", "/v1/users", person, access_token, max_wait_seconds)
    return user, status == 201


def find_by_phone(phone, max_wait_seconds=None):
    """Returns (users, days_since_check): the users of a phone, the one that was checked last first, and the whole days since its check.

    Without users the days are None.
    """
    query = urllib.parse.urlencode({"phone": phone, "page_size": 100})
    found = call("GET", f"/v1/users?{query}", max_wait_seconds=max_wait_seconds)["data"]
    if not found:
        return found, None
    checked_at = datetime.datetime.fromisoformat(found[0]["checked_at"].replace("Z", "+00:00"))
    return found, max(0, (datetime.datetime.now(datetime.timezone.utc) - checked_at).days)


def confirm_buyer(person, access_token=None, max_wait_seconds=None):
    """Links a returning buyer, or checks it again if you linked the person before. Returns (user, is_new).

    Then it removes your other users with this phone: the number is no longer theirs. Raises Problem if the buyer is not confirmed.
    `max_wait_seconds`: of each of its requests.
    """
    try:
        user, is_new = link_buyer(person, access_token, max_wait_seconds)
        user_id = user["id"]
    except Problem as problem:
        if problem.code != "user_conflict":
            raise
        user_id, is_new = problem.body["user_id"], False
    if not is_new:
        checked = {name: person[name] for name in ("national_id", "birth_date", "phone")}
        user = call("POST", f"/v1/users/{user_id}/checks", checked, max_wait_seconds=max_wait_seconds)
    for other in find_by_phone(user["phone"], max_wait_seconds)[0]:
        if other["id"] != user["id"]:
            call("DELETE", f"/v1/users/{other['id']}", max_wait_seconds=max_wait_seconds)
    return user, is_new


def users(max_wait_seconds=90):
    """Yields every user, in the order of linking. Skips and repeats nobody, whatever is linked or removed meanwhile.

    `max_wait_seconds`: of each page. The default is a clock minute of the rate limit, and its jitter.
    """
    page = call("GET", "/v1/users?page_size=100", max_wait_seconds=max_wait_seconds)
    yield from page["data"]
    while page["next_after"]:
        path = f"/v1/users?page_size=100&after={page['next_after']}"
        page = call("GET", path, max_wait_seconds=max_wait_seconds)
        yield from page["data"]


def events(after=None):
    """Yields every event after this number, then each new one. Store event["sequence"] with what you did for the event.

    Repeats a read for as long as the service is unavailable or the rate limit is used up. Raises Problem, such as events_expired.
    """
    interval_seconds = 1
    while True:
        path = "/v1/events" if after is None else f"/v1/events?after={after}"
        page = _repeat("GET", path, max_wait_seconds=math.inf, retries=math.inf)[1]
        for event in page["data"]:
            after = event["sequence"]
            yield event
        interval_seconds = 1 if page["data"] else min(2 * interval_seconds, 30)
        if not page["has_more"]:
            time.sleep(interval_seconds)
