// Loaded into the service's process before its code: shifts the wall clock by the seconds in a file, read again on SIGUSR2. The
// monotonic clock stays as it is, as when a machine's clock is set. A file beside it tells that it was read.
import { readFileSync, writeFileSync } from 'node:fs';

const RealDate = Date;
let offsetMs = 0;

const readOffset = () => {
  const text = readFileSync(process.env.CLOCK_OFFSET_FILE, 'utf8');
  offsetMs = Number(text) * 1000;
  writeFileSync(`${process.env.CLOCK_OFFSET_FILE}.read`, text);
};

globalThis.Date = class extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(RealDate.now() + offsetMs);
    else super(...parts);
  }

  static now() {
    return RealDate.now() + offsetMs;
  }
};

readOffset();
process.on('SIGUSR2', readOffset);
