import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CloudFormationClient, paginateDescribeStackEvents } from '@aws-sdk/client-cloudformation';
import { apiStackName } from '#lib/outputs.ts';
import { STAGE } from './stage.ts';

interface Lambda {
  readonly Properties: {
    Code: object;
    readonly Environment: { readonly Variables: Record<string, unknown> };
  };
}

/** What the deploy of the broken versions must say of each. */
const FAULTS = [
  /get-docs: [^;]*broken at start/,
  /get-user: [^;]*environment variables missing or wrong: TABLE_NAME/,
  /authorizer: Unauthorized with the outcome malformed in place of unknown/,
];

/**
 * Copies a folder that `cdk synth` wrote, and breaks three versions in it: get-docs throws at its start, the environment of get-user lacks a
 * variable, and the authorizer refuses every key of the stage. Returns the new folder.
 */
export const breakVersions = async (folder: string): Promise<string> => {
  const broken = `${folder}-broken`;
  await cp(folder, broken, { recursive: true });
  const templateFile = join(broken, `${apiStackName(STAGE)}.template.json`);
  const template: { Resources: Record<string, Lambda> } = JSON.parse(await readFile(templateFile, 'utf8'));
  const functionOf = (prefix: string): Lambda => {
    const [, found] = Object.entries(template.Resources).find(([id]) => id.startsWith(prefix)) ?? [];
    if (found === undefined) throw new Error(`the template has no ${prefix}`);
    return found;
  };
  functionOf('getdocsFunction').Properties.Code = { ZipFile: `throw new Error('broken at start');` };
  delete functionOf('getuserFunction').Properties.Environment.Variables.TABLE_NAME;
  functionOf('authorizerFunction').Properties.Environment.Variables.KEY_PREFIX = 'blk_live_';
  await writeFile(templateFile, JSON.stringify(template));
  await renameTemplate(broken);
  return broken;
};

/** The CDK CLI uploads no template under a name that is there already. */
const renameTemplate = async (folder: string): Promise<void> => {
  const manifest = await readFile(join(folder, `${apiStackName(STAGE)}.assets.json`), 'utf8');
  const [name = ''] =
    Object.entries<{ source: { path: string } }>(JSON.parse(manifest).files).find(
      ([, { source }]) => source.path === `${apiStackName(STAGE)}.template.json`,
    ) ?? [];
  for (const file of (await readdir(folder)).filter((each) => each.endsWith('.json'))) {
    const text = await readFile(join(folder, file), 'utf8');
    await writeFile(join(folder, file), text.replaceAll(name, [...name].reverse().join('')));
  }
};

/** Rejects unless the deploy of the broken versions fails with what is wrong with each, before it makes an alias that serves requests. */
export const assertRefused = async (deploy: () => Promise<unknown>): Promise<void> => {
  const output = await deploy().then(
    () => '',
    (error: Error) => error.message,
  );
  const missing = FAULTS.filter((fault) => !fault.test(output.replaceAll(/\s+/g, ' ')));
  if (missing.length > 0) throw new Error(`The deploy does not fail with: ${missing.join('; ')}\n${output}`);
  const client = new CloudFormationClient({});
  const aliases: string[] = [];
  for await (const { StackEvents = [] } of paginateDescribeStackEvents(
    { client },
    { StackName: apiStackName(STAGE) },
  ))
    aliases.push(
      ...StackEvents.filter(({ ResourceType }) => ResourceType === 'AWS::Lambda::Alias').map(
        ({ LogicalResourceId = '' }) => LogicalResourceId,
      ),
    );
  client.destroy();
  const serving = aliases.filter((id) => !id.startsWith('canary'));
  if (serving.length > 0) throw new Error(`The deploy made aliases: ${serving.join(', ')}`);
};
