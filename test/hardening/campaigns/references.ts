import { refusedReferences } from '#test/shared/users/references.ts';
import type { Campaign } from './campaign.ts';

/** A million references of each kind that shops make: none may look like a phone. */
export const references: Campaign = {
  name: 'references',
  run({ random, report, scale }) {
    const check = 'references: an external id takes a million of each kind';
    const refused = refusedReferences(1_000_000 * scale, random.next);
    report.expect(check, refused.length === 0, () => refused.slice(0, 5).join(', '));
    return Promise.resolve();
  },
};
