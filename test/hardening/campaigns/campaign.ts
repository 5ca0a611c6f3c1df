import type { Deployment } from '../deployment.ts';
import type { Random } from '../random.ts';
import type { Report } from '../report.ts';
import type { Used } from '../used.ts';

export interface CampaignOptions {
  readonly deployment: Deployment;
  readonly seed: number;
  readonly random: Random;
  readonly report: Report;
  readonly used: Used;
  /** 1 is the full campaign; CI runs a part of it. */
  readonly scale: number;
}

/** One kind of attack or fault, tried against a running deployment. */
export interface Campaign {
  readonly name: string;
  run(options: CampaignOptions): Promise<void>;
}
