/**
 * The reporter of `npm run lint` for the import rules. Those of dependency-cruiser name the folders of a cycle, and not the imports that make it.
 * dependency-cruiser finds it by a path from its own file: package.json.
 */

/** Returns `a.ts imports b.ts` for each import from one folder into another one. */
const importsBetween = (modules, from, to) => {
  const isIn = (folder, file) =>
    file.startsWith(`${folder}/`) && !file.slice(folder.length + 1).includes('/');
  return modules
    .filter(({ source }) => isIn(from, source))
    .flatMap(({ source, dependencies }) =>
      dependencies
        .filter(({ resolved }) => isIn(to, resolved))
        .map(({ resolved }) => `${source} imports ${resolved}`),
    );
};

const linesOf = ({ from, to, rule, cycle = [] }, modules) => {
  const path = [from, ...(cycle.length > 0 ? cycle.map(({ name }) => name) : [to])];
  const steps = rule.name === 'folder-cycles' ? path.slice(1).map((next, index) => [path[index], next]) : [];
  const imports = steps.flatMap(([folder, next]) => importsBetween(modules, folder, next));
  return [`${rule.name}: ${path.join(' → ')}`, ...imports.map((text) => `    ${text}`)];
};

export default ({ modules, summary }) => {
  const { violations, ruleSetUsed, totalCruised } = summary;
  if (violations.length === 0)
    return { output: `no forbidden import in ${totalCruised} modules\n`, exitCode: 0 };
  const names = new Set(violations.map(({ rule }) => rule.name));
  const rules = ruleSetUsed.forbidden.filter(({ name }) => names.has(name));
  const lines = [
    ...violations.flatMap((violation) => linesOf(violation, modules)),
    '',
    ...rules.map(({ name, comment }) => `${name}: ${comment}`),
  ];
  return { output: `${lines.join('\n')}\n`, exitCode: violations.length };
};
