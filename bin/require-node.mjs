// Runs before `npm start` and `npm test`. With --ignore-scripts the system's Node runs them, and its error about a .ts file does not
// name the cause.
import { isNodeNewEnough, oldNodeMessage } from './node-version.mjs';

if (!isNodeNewEnough) {
  console.error(oldNodeMessage);
  process.exit(1);
}
