"""Runs a program in a fork for each line of stdin, {"args", "cwd", "url"}, and prints a line for each: {"code", "out", "error"}."""

import json
import os
import runpy
import sys
import tempfile

program = sys.argv[1]
sys.path.insert(0, os.path.dirname(program))
# Not as __main__, so that only its imports run.
runpy.run_path(program)

for line in sys.stdin:
    run = json.loads(line)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(error.fileno(), 2)
            os.chdir(run["cwd"])
            os.environ["BUYER_LINKING_URL"] = run["url"]
            sys.argv = [program, *run["args"]]
            runpy.run_path(program, run_name="__main__")
            sys.exit()
        _, status = os.waitpid(child, 0)
        out.seek(0)
        error.seek(0)
        texts = {"out": out.read().decode(), "error": error.read().decode()}
    print(json.dumps({"code": os.waitstatus_to_exitcode(status), **texts}), flush=True)
