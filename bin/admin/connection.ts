import type { Administration } from '#shared/administration/context.ts';
import type { Digests } from '#shared/secrets/digests.ts';

/** A deployment that the CLI is connected to. */
export interface Connection {
  readonly admin: Administration;
  readonly digests: Digests;
  /** For people and for the checkpoint of an import: `local` or `stage prod (arn…)`. */
  readonly description: string;
  close(): void;
}

/** The options that choose a deployment. */
export interface TargetOptions {
  readonly local?: boolean;
  readonly stage?: string;
  readonly profile?: string;
  readonly region?: string;
  /** The data folder of the local service. */
  readonly data?: string;
}
