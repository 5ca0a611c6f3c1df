"""Links the customers of a CSV file. Python 3.9 or newer, with buyer_linking.py beside it.

    export BUYER_LINKING_URL=https://… BUYER_LINKING_API_KEY=blk_…
    python3 bring_customers.py customers.csv --column phone=Mobile

Writes results.csv. Run it again to go on: it links nobody twice.
"""

import argparse
import codecs
import collections
import contextlib
import csv
import io
import math
import os
import re
import sys
import time
import unicodedata

from buyer_linking import Problem, call, link_buyer

# The customer's number, which becomes the external id, and the four fields of a link.
FIELDS = ["customer", "national id", "birth date", "phone", "name"]
RESULTS = "results.csv"
HEADER = [*FIELDS, "code", "user_id"]
LINKED = {"linked", "known"}
# An unchanged row with one of these is not tried again. A linked person is known by phone and national id alone.
FINAL = LINKED | {"user_conflict", "external_id_conflict", "identity_mismatch", "phone_not_owned", "link_refused", "validation_failed"}
WITHOUT_RESULT = re.compile("no_response|internal|http_.*|.*_unavailable")
# A clock minute of the rate limit and its jitter.
MAX_WAIT_SECONDS = 90

# Persian and Arabic-Indic.
_DIGITS = {zero + digit: str(digit) for zero in (0x6F0, 0x660) for digit in range(10)}
_MARKS = re.compile("[\u061c\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_PHONE = re.compile("(?:(?:00)?98)?0?(9[0-9]{9})")


def rows_in(path, delimiter=None):
    """Returns the rows of a CSV file. Without a delimiter it is the one that the first line has most."""
    try:
        with open(path, "rb") as file:
            data = file.read()
        text = data.decode("utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8")
    except OSError as error:
        sys.exit(f"{path} cannot be read: {error.strerror}.")
    except UnicodeError:
        text = "\0"
    if "\0" in text:
        sys.exit(f'{path} is neither UTF-8 nor UTF-16. Save it as "CSV UTF-8".')
    # The line break after sep= stays: errors count lines.
    text = re.sub(r'\A\ufeff*(?:"?sep=.?"?[,;\t]*(?=[\r\n]))?', "", text, flags=re.IGNORECASE)
    first_line = re.match(r'\s*((?:[^"\r\n]|"[^"]*")*)', text).group(1)
    unquoted = re.sub('"[^"]*"', "", first_line)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter or max(",;\t", key=unquoted.count), strict=True)
    try:
        return list(reader)
    except csv.Error:
        sys.exit(f"{path} has a quote that does not end, or text beside a quoted cell: line {reader.line_num}.")


def plain(text):
    """Returns a text without marks, with ASCII digits."""
    return _MARKS.sub("", unicodedata.normalize("NFC", text)).translate(_DIGITS).strip()


def is_blank(row):
    return not any(plain(cell) for cell in row)


def positions_of(columns, header, path):
    """Returns where the columns are. Ends the program if one is missing or there twice."""
    names = [spelled(name) for name in header]
    shown = f"Its first line has: {', '.join(header)}."
    if re.search("[0-9]{4}", plain("".join(header))):
        # The data of a person.
        shown = "Its first line must have the names of the columns."
    for column in columns:
        count = names.count(column)
        if count != 1:
            sys.exit(f"{path} has {count or 'no'} column{'s' if count else ''} {column}. {shown}")
    return [names.index(column) for column in columns]


def spelled(name):
    return " ".join(re.sub("[_-]", " ", plain(name)).casefold().split())


def customers_in(path, columns):
    """Returns the cells of each customer, with whether the row is wider than the header, and how many rows are blank."""
    rows = rows_in(path)
    while rows and is_blank(rows[0]):
        del rows[0]
    if not rows:
        sys.exit(f"{path} is empty.")
    header, *body = rows
    positions = positions_of(columns, header, path)
    filled = [row for row in body if not is_blank(row)]
    cells = [[row[at].strip() if at < len(row) else "" for at in positions] for row in filled]
    return list(zip(cells, [not is_blank(row[len(header):]) for row in filled])), len(body) - len(filled)


def with_zeros(national_id):
    """Returns a national id with the zeros that a spreadsheet dropped, if its check digit is right then."""
    digits = plain(national_id)
    if not re.fullmatch("[0-9]{8,9}", digits):
        return national_id
    whole = digits.zfill(10)
    rest = sum(int(digit) * (10 - at) for at, digit in enumerate(whole[:9])) % 11
    return whole if int(whole[9]) == (rest if rest < 2 else 11 - rest) else national_id


def joined(national_id):
    """Returns a national id without spaces and hyphens."""
    return with_zeros(re.sub(r"[\s\u2010-\u2015\u2212-]", "", plain(national_id)))


def normal(cells):
    """Returns the five cells in one form, in which a row is known again."""
    customer, national_id, birth_date, phone, name = [plain(cell) for cell in cells]
    mobile = _PHONE.fullmatch(re.sub("[^0-9]", "", phone))
    national_id = joined(national_id)
    birth_date = re.sub("(?<![0-9])0+(?=[0-9])", "", birth_date.replace("-", "/"))
    return customer, national_id, birth_date, mobile.group(1) if mobile else phone, name


def earlier_codes():
    """Returns what the runs before noted."""
    codes = {}
    if not os.path.exists(RESULTS) or os.path.getsize(RESULTS) == 0:
        return codes
    rows = rows_in(RESULTS, ",")
    with open(RESULTS, "rb") as file:
        data = file.read()
    is_own = data.startswith(codecs.BOM_UTF8) and data.endswith(b"\n") and rows[0] == HEADER
    if not is_own or any(len(row) != len(HEADER) for row in rows):
        sys.exit(f"{RESULTS} has another form than this program writes. Move it away: a run without it links nobody twice.")
    for row in rows[1:]:
        note(codes, row[:5], row[5])
    return codes


def note(codes, cells, code):
    """Notes the code of a row; that of a linked person under phone and national id too."""
    row, code = normal(cells), code.split(" ")[0]
    # The service can accept another spelling of what it refused.
    codes[tuple(cells) if code == "validation_failed" else row] = code
    if code in LINKED:
        codes.setdefault((row[3], row[1]), code)


def code_of(codes, cells):
    row = normal(cells)
    code = codes.get(tuple(cells), codes.get(row))
    return code if code in LINKED else codes.get((row[3], row[1]), code)


def link(cells):
    """Returns the code of a row, the id of its user, and whether the customer's number was sent. Waits while a limit is used up."""
    customer, national_id, birth_date, phone, name = cells
    person = {"national_id": with_zeros(national_id), "birth_date": birth_date, "phone": phone, "display_name": name}
    # The service does not find a national id behind the prefix.
    if plain(customer) and joined(customer) != joined(national_id):
        person["external_id"] = f"customer:{plain(customer)}"
    while True:
        try:
            user, is_new = link_buyer(person, max_wait_seconds=MAX_WAIT_SECONDS)
            return "linked" if is_new else "known", user["id"], "external_id" in person
        except ConnectionError:
            return "no_response", "", True
        except Problem as problem:
            fields = [f"{error.get('pointer', '')[2:]} {error.get('code')}" for error in problem.errors]
            if problem.status == 401 or problem.code == "insufficient_scope":
                sys.exit(f"The key cannot link customers: {problem}")
            if problem.code == "rate_limit_exceeded":
                seconds = problem.retry_after or 60
                until = time.strftime("%H:%M", time.localtime(time.time() + seconds))
                print(f"The limit {problem.reason or 'of the key'} is used up: goes on at {until}.", flush=True)
                time.sleep(seconds)
            elif "external_id invalid" in fields:
                del person["external_id"]
            else:
                return " ".join([problem.code, *fields]), problem.body.get("user_id", ""), True


def results_file():
    """Opens the results for their owner alone: they have national ids."""
    try:
        file = open(RESULTS, "ab", buffering=0, opener=lambda path, flags: os.open(path, flags, 0o600))
        os.chmod(RESULTS, 0o600)
    except OSError as error:
        sys.exit(f"{RESULTS} cannot be written: {error.strerror}.")
    if file.tell() == 0:
        write(file, ["\ufeff" + HEADER[0], *HEADER[1:]])
    return file


def write(file, cells):
    """Writes a whole line or none."""
    line, end, reason = io.StringIO(newline=""), file.tell(), "the disk is full"
    csv.writer(line).writerow(cells)
    data = line.getvalue().encode()
    try:
        if file.write(data) == len(data):
            return
    except OSError as error:
        reason = error.strerror
    with contextlib.suppress(OSError):
        file.truncate(end)
    sys.exit(f"{RESULTS} cannot be written: {reason}. Run the program again then: it links nobody twice.")


def bring(customers, codes, counts):
    """Links the customers who are left. Returns why it ended early, or None."""
    left = [(normal(cells), cells, is_wide) for cells, is_wide in customers]
    left = [each for each in left if code_of(codes, each[1]) not in FINAL]
    # Who is not registered uses up a limit of an hour, so they come last.
    left.sort(key=lambda each: (codes.get(each[0]) == "buyer_not_registered", each[0] in codes))
    try:
        key = call("GET", "/v1/key", max_wait_seconds=MAX_WAIT_SECONDS)
    except (ConnectionError, Problem, ValueError) as error:
        sys.exit(str(error))
    maximum = {limit["name"]: limit["maximum"] for limit in key["limits"]}
    per_minute, per_day = maximum[key["plan"]], maximum["paid-checks-per-day"]
    minutes = math.ceil(len(left) / per_minute)
    print(f"{len(left)} of {len(customers)} customers: about {minutes} min, at most {per_day} a day", flush=True)
    without_result = 0
    with results_file() as file:
        for done, (row, cells, is_wide) in enumerate(left):
            if sys.stderr.isatty():
                print(f"{done} of {len(left)}", end="\r", file=sys.stderr, flush=True)
            next_at = time.monotonic() + (0 if is_wide else 60 / per_minute)
            code, user_id, has_number = ("too_many_cells", "", True) if is_wide else link(cells)
            if not is_wide or codes.get(row) != code:
                write(file, [*cells, code, user_id])
            note(codes, cells, code)
            counts["without their number, which is empty, their national id or refused by the service"] += not has_number
            without_result = without_result + 1 if WITHOUT_RESULT.fullmatch(code) else 0
            if without_result == 5:
                return "Five links in a row had no result. Run the program again later."
            time.sleep(max(0, next_at - time.monotonic()))
    return None


def main():
    parser = argparse.ArgumentParser(description="Links the customers of a CSV file.")
    parser.add_argument("file", help="CSV in UTF-8 or UTF-16, with the names of the columns in the first line")
    parser.add_argument("--column", metavar="FIELD=NAME", action="append", default=[], help=f"your name of: {', '.join(FIELDS)}")
    arguments = parser.parse_args()
    columns = dict(zip(FIELDS, FIELDS))
    for field, _, name in (option.partition("=") for option in arguments.column):
        if spelled(field) not in columns or not spelled(name):
            parser.error("--column is a field, = and the name of your column")
        columns[spelled(field)] = spelled(name)
    customers, blank = customers_in(arguments.file, columns.values())
    codes, counts = earlier_codes(), collections.Counter()
    try:
        failure = bring(customers, codes, counts)
    except KeyboardInterrupt:
        failure = "Stopped. Run the program again to go on."
    by_code = collections.Counter(code_of(codes, cells) for cells, _ in customers)
    linked, known, untried = by_code.pop("linked", 0), by_code.pop("known", 0), by_code.pop(None, 0)
    counts["not tried yet"] = untried
    counts["with a national id whose zeros were restored"] = sum(with_zeros(cells[1]) != cells[1] for cells, _ in customers)
    counts["blank rows"] = blank
    print(f"{linked} linked, {known} known, {sum(by_code.values())} others: see {RESULTS}")
    print("".join(f"{count} {what}\n" for what, count in counts.items() if count), end="")
    sys.exit(failure)


if __name__ == "__main__":
    main()
