// The Node that runs the scripts. `npm ci` installs it into node_modules/.bin, whatever the system's Node is.
const REQUIRED_MAJOR = 24;

export const isNodeNewEnough = Number(process.versions.node.split('.')[0]) >= REQUIRED_MAJOR;

export const oldNodeMessage = `Node ${process.versions.node} cannot run this. \`npm ci\` installs Node ${REQUIRED_MAJOR} for the scripts; if install scripts are switched off (--ignore-scripts), put Node ${REQUIRED_MAJOR} or newer on PATH.`;
