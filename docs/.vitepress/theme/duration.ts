/** `36360` -> `10 h`: seconds below a minute, minutes below two hours. */
export const durationText = (seconds: number) => {
  const minutes = Math.ceil(seconds / 60);
  if (seconds < 60) return `${seconds} s`;
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
};
