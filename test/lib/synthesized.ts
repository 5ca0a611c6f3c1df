import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { addStages } from '#lib/app.ts';
import type { Bundles } from '#lib/bundling.ts';
import { type Config, parseConfig } from '#lib/config.ts';
import type { Release } from '#lib/release.ts';
import { STAGES } from '#lib/stages.ts';
import cdkJson from '../../cdk.json' with { type: 'json' };

/** Holds everything that a test file synthesizes, until the file ends. */
const folder = mkdtempSync(join(tmpdir(), 'buyer-linking-templates-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns an empty folder instead of each bundle: the templates do not depend on the code. */
const emptyBundles: Bundles = {
  sizes: {},
  folderOf(name) {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  },
};

/** A fixed release, so that the templates do not depend on the checkout. */
export const RELEASE: Release = { version: '1.2.3', commit: '0123456789ab' };

/** The context of cdk.json, which the CDK CLI would pass to the app. */
const context: Record<string, unknown> = cdkJson.context;

/** Returns the config of a stage with some options replaced. */
export const stageConfig = (stage: keyof typeof STAGES, changes: Partial<Config> = {}): Config =>
  parseConfig(stage, { ...STAGES[stage], ...changes });

/** The config of prod with every option that adds something to the templates. */
export const everyOption = stageConfig('prod', {
  alarms: { email: 'on-call@example.com' },
  otpAccess: 'public',
  spend: { paidChecksPerDay: 5000, smsPerDay: 10_000 },
  budget: { usdPerMonth: 500 },
  encryption: 'customer-managed-key',
  permissionsBoundary: 'arn:aws:iam::123456789012:policy/boundary',
  tags: { 'cost-center': 'payments' },
  runbookUrl: 'https://example.com/operations.md',
  domain: {
    name: 'api.example.com',
    certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/0',
    defaultEndpoint: 'closed',
  },
  minorAlarms: { email: 'team@example.com' },
  hashSecretReplica: 'eu-west-1',
  tableTrail: true,
  retiredSigningKeys: ['k0'],
});

/** Returns the app of several stages, not yet synthesized. */
export const stagesApp = (configs: readonly Config[], { hasValidation = false } = {}) => {
  const app = new App({
    context,
    outdir: mkdtempSync(join(folder, 'cdk-')),
    builtinCloudFormationValidation: hasValidation,
  });
  return { app, stages: addStages(app, configs, { bundles: emptyBundles, release: RELEASE }) };
};

/**
 * Returns the app of a stage, not yet synthesized. `hasValidation` turns on the template rules of CloudFormation, which take seconds
 * and need to run in one test file only.
 */
export const stageApp = (config: Config, options?: { readonly hasValidation: boolean }) => {
  const { app, stages } = stagesApp([config], options);
  const [stacks] = stages;
  return { app, ...(stacks as NonNullable<typeof stacks>) };
};

/** Returns the templates of a stage. */
export const templatesOf = (stage: keyof typeof STAGES, changes: Partial<Config> = {}) => {
  const { api, data } = stageApp(stageConfig(stage, changes));
  return { api: Template.fromStack(api), data: Template.fromStack(data) };
};

interface Resource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests read JSON of any form
  readonly Properties: any;
  readonly DeletionPolicy?: string;
  readonly DependsOn?: readonly string[];
}

/** Returns the resources of a type, by logical id. */
export const resourcesOf = (template: Template, type: string): Readonly<Record<string, Resource>> =>
  template.findResources(type) as Readonly<Record<string, Resource>>;
