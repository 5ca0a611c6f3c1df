import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { addStage } from '#lib/app.ts';
import type { Bundles } from '#lib/bundling.ts';
import { type Config, parseConfig } from '#lib/config.ts';
import { STAGES } from '#lib/stages.ts';
import cdkJson from '../../cdk.json' with { type: 'json' };

/** Everything that a test file synthesises lies here until it ends. */
const folder = mkdtempSync(join(tmpdir(), 'buyer-linking-templates-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An empty folder in place of each bundle: what a template says does not depend on the code. */
const emptyBundles: Bundles = {
  sizes: {},
  folderOf(name) {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  },
};

/** The context of cdk.json, which the CDK CLI would hand over. */
const context: Record<string, unknown> = cdkJson.context;

/** A stage of ours, with the options that a test changes. */
export const stageConfig = (stage: keyof typeof STAGES, changes: Partial<Config> = {}): Config =>
  parseConfig(stage, { ...STAGES[stage], ...changes });

/** The app of a stage, not synthesised yet. */
export const stageApp = (config: Config) => {
  const app = new App({ context, outdir: mkdtempSync(join(folder, 'cdk-')) });
  return { app, ...addStage(app, config, emptyBundles) };
};

/** The templates of a stage. */
export const templatesOf = (stage: keyof typeof STAGES, changes: Partial<Config> = {}) => {
  const { api, data } = stageApp(stageConfig(stage, changes));
  return { api: Template.fromStack(api), data: Template.fromStack(data) };
};

interface Resource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template is JSON of any form, and tests look deep into it
  readonly Properties: any;
  readonly DeletionPolicy?: string;
}

/** The resources of a type, by logical id. */
export const resourcesOf = (template: Template, type: string): Readonly<Record<string, Resource>> =>
  template.findResources(type) as Readonly<Record<string, Resource>>;
