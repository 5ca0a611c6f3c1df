/** The rules of imports. They hold for type-only imports too, which needs the API of TypeScript 6: TypeScript 7 has none yet. */
const BELOW_LOCAL = ['lib', 'openapi', 'functions', 'admin', 'probe', 'shared'];

/** What each folder may import besides itself: folders and files. Tests may import everything. */
const ALLOWED = {
  shared: [],
  lib: ['shared'],
  openapi: ['shared'],
  functions: ['shared'],
  admin: ['shared'],
  probe: ['shared'],
  local: BELOW_LOCAL,
  bin: ['local', ...BELOW_LOCAL],
  bench: ['local', ...BELOW_LOCAL, 'test/simulators'],
  // A package of its own.
  'client/src': [],
  // The site, with a form for a key. The function that serves it has the names of its files; the chart of a key counts hours.
  docs: ['client/package.json', 'client/src/generated', 'shared/docs', 'shared/clock.ts'],
};

/** Matches what is in the folders, and the files. */
const within = (paths) => `^(${paths.join('|').replaceAll('.', '\\.')})(/|$)`;

const ALL = within([...Object.keys(ALLOWED), 'client/package.json', 'test']);

const directions = Object.entries(ALLOWED).map(([folder, others]) => ({
  name: `${folder}-imports`,
  comment: `${folder} imports ${[folder, ...others].join(', ')} and nothing else.`,
  severity: 'error',
  from: { path: within([folder]) },
  to: { path: ALL, pathNot: within([folder, ...others]) },
}));

export default {
  forbidden: [
    ...directions,
    {
      name: 'file-cycles',
      comment: 'Files do not import each other in a cycle.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'gateway-imports',
      comment:
        'The files of local/ import local/gateway/, so that it imports none of them. `folder-cycles` does not compare a folder with its own.',
      severity: 'error',
      from: { path: '^local/gateway/' },
      to: { path: '^local/[^/]+$' },
    },
    {
      name: 'folder-cycles',
      comment: 'Folders do not import each other in a cycle.',
      severity: 'error',
      scope: 'folder',
      from: { pathNot: '^test' },
      to: { circular: true },
    },
  ],
  options: { tsPreCompilationDeps: true, includeOnly: ALL },
};
