"""Runs a program in a pseudo-terminal, which Node cannot create. Arguments: columns, a JSON list of [question, keys], the program.

When the output contains a question, the keys are typed. Prints all output and exits with the exit code of the program.
"""

import fcntl, json, os, pty, struct, sys, termios

columns, steps, program = int(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    # The parent has set the width before it sends this line.
    sys.stdin.readline()
    os.execvp(program[0], program)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
os.write(terminal, b"\n")
output = b""
seen = 0
while True:
    try:
        part = os.read(terminal, 65536)
    except OSError:  # Linux reports the end of the program so.
        break
    if not part:
        break
    output += part
    while steps and steps[0][0].encode() in output[seen:]:
        question, keys = steps.pop(0)
        seen = output.index(question.encode(), seen) + len(question.encode())
        os.write(terminal, keys.encode())
_, status = os.waitpid(child, 0)
# The first line is the echo of the line that started the program.
sys.stdout.buffer.write(output.split(b"\n", 1)[1].replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(status) % 256)
