import type { Administration } from '#admin/administration.ts';
import type { KeyedHashes } from '#shared/secrets/keyed-hashes.ts';

/** A deployment that the CLI is connected to. */
export interface Connection {
  readonly admin: Administration;
  readonly hashes: KeyedHashes;
  /** Which one it is: an interrupted import goes on only into the same. */
  readonly deployment: string;
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
