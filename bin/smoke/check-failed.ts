/** The service did not respond as it should. The message says how it responded. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed';
}
