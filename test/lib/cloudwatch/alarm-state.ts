/** The state of an alarm, by the rules of "Configuring how CloudWatch alarms treat missing data" (CloudWatch user guide). */

export type State = 'OK' | 'ALARM';

export interface Evaluation {
  readonly breaching: number;
  readonly evaluated: number;
  readonly missingData: 'breaching' | 'notBreaching' | 'ignore';
}

/**
 * How many points CloudWatch reads beyond those that it evaluates: "CloudWatch attempts to retrieve a higher number of data points than the
 * number specified as Evaluation Periods. The exact number […] depends on the length of the alarm period". Its examples read 5 for 3.
 */
export const EXTRA_POINTS = 2;

/**
 * Returns the state after the points of the evaluation range: true breaches, undefined is missing. If enough of them exist, "CloudWatch evaluates the
 * alarm state based on the most recent existing data points", however old; else it "uses missing data points only as few times as possible".
 */
export const stateAfter = (
  points: readonly (boolean | undefined)[],
  { breaching, evaluated, missingData }: Evaluation,
  before: State,
): State => {
  const real = points.filter((point) => point !== undefined).slice(-evaluated);
  const breaches = real.filter((isBreach) => isBreach).length;
  const filled = missingData === 'breaching' ? evaluated - real.length : 0;
  if (breaches + filled >= breaching) return 'ALARM';
  const isUndecided = real.length < evaluated && breaches === real.length;
  return missingData === 'ignore' && isUndecided ? before : 'OK';
};
