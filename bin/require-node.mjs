// Runs before `npm start` and `npm test`, which need Node 24. `npm ci` installs it into node_modules/.bin, whatever the system's Node
// is. With --ignore-scripts the system's Node runs instead, and its error about a .ts file does not name the cause.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  console.error(
    `Node ${process.versions.node} cannot run this. \`npm ci\` installs Node 24 for the scripts; if install scripts are switched off (--ignore-scripts), put Node 24 or newer on PATH.`,
  );
  process.exit(1);
}
