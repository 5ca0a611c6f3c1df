// Runs before every script that runs TypeScript. Those need Node 24, which `npm ci` installs into node_modules/.bin; an npm that was
// told to skip install scripts leaves the system's Node in its place, and what that says of a .ts file helps nobody.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  console.error(
    `Node ${process.versions.node} cannot run this. \`npm ci\` installs Node 24 for the scripts; if install scripts are switched off (--ignore-scripts), put Node 24 or newer on PATH.`,
  );
  process.exit(1);
}
