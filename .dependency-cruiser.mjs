/** The rules of imports. They hold for type-only imports too, which needs the API of TypeScript 6: TypeScript 7 has none yet. */
/** What each folder may import besides itself. Tests may import everything. */
const ALLOWED = {
  shared: [],
  lib: ['shared'],
  openapi: ['shared'],
  functions: ['shared'],
  admin: ['shared'],
  local: ['lib', 'openapi', 'functions', 'admin', 'shared'],
  bin: ['local', 'lib', 'openapi', 'functions', 'admin', 'shared'],
  bench: ['local', 'lib', 'openapi', 'functions', 'admin', 'shared', 'test/simulators'],
};

const FOLDERS = [...Object.keys(ALLOWED), 'test'];

const directions = Object.entries(ALLOWED).map(([folder, others]) => ({
  name: `${folder}-imports`,
  comment: `${folder}/ imports ${[folder, ...others].map((name) => `${name}/`).join(', ')} and nothing else.`,
  severity: 'error',
  from: { path: `^${folder}/` },
  to: { path: `^(${FOLDERS.join('|')})/`, pathNot: `^(${[folder, ...others].join('|')})/` },
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
  options: { tsPreCompilationDeps: true, includeOnly: `^(${FOLDERS.join('|')})/` },
};
