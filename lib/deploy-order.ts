/** A template as JSON, as far as the order of deploys depends on it. */
interface Template {
  readonly Outputs?: Readonly<Record<string, { readonly Export?: { readonly Name: string } }>>;
}

const exportsOf = ({ Outputs = {} }: Template): readonly string[] =>
  Object.values(Outputs).flatMap((output) => output.Export?.Name ?? []);

const importsOf = (template: object): readonly string[] => {
  const names = [...JSON.stringify(template).matchAll(/"Fn::ImportValue":"([^"]+)"/g)];
  return [...new Set(names.map(([, name = '']) => name))];
};

/**
 * Returns the exports that CloudFormation refuses to delete: the API stack that is deployed imports them, and the new data stack has them no
 * longer. The API stack must then be deployed first, by itself.
 */
export const exportsInUse = (
  deployed: { readonly api: object },
  next: { readonly data: Template },
): readonly string[] => importsOf(deployed.api).filter((name) => !exportsOf(next.data).includes(name));
