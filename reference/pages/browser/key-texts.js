/** Returns `1,234`. */
export const numberText = (number) => number.toLocaleString('en');

/** Returns `Sat 21 Nov, 08:00` in UTC. The form of toUTCString is standard, those of toLocaleString differ. */
export const timeText = (time) => {
  const [weekday, day, month, , clock] = new Date(time).toUTCString().split(/,? /);
  return `${weekday} ${Number(day)} ${month}, ${clock.slice(0, 5)}`;
};

/** Returns `23 s`, `41 min` or `5 h 12 min`, rounded up. */
export const durationText = (seconds) => {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};

/** Returns the requests of an hour that were refused links, failed checks or failed verifications. */
export const refusedIn = ({ refused_links, failed_checks, failed_verifies }) =>
  refused_links + failed_checks + failed_verifies;
