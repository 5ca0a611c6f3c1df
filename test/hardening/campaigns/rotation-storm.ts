import { call } from '../api.ts';
import { keyIn } from '../deployment.ts';
import type { Campaign, CampaignOptions } from './campaign.ts';

const ROUNDS = 5;
const AT_ONCE = 40;

/** The least. */
const GRACE_HOURS = 1;

/** A thief who rotates a key without pause from every secret that it got. */
const thiefOf = ({ deployment, report, used }: CampaignOptions, stolen: string) => {
  const secrets = [stolen];
  let hours = 0;
  let isOver = false;
  const rotate = async (key: string): Promise<void> => {
    const reply = await call(
      deployment.baseUrl(),
      { method: 'POST', path: '/v1/key/secrets', key, body: { grace_hours: GRACE_HOURS } },
      report,
    );
    report.operation('rotations of a thief', reply !== undefined);
    if (reply?.status !== 201) return;
    used.keys.add(reply.json.secret);
    secrets.push(reply.json.secret);
  };
  return {
    secrets,
    async atOnce(): Promise<void> {
      await deployment.toTenPast(hours);
      await Promise.all(Array.from({ length: AT_ONCE }, () => rotate(stolen)));
    },
    /** Before each time that it uses all its secrets, the clock passes the end of a grace period: one of them can rotate the key. */
    async untilStopped(): Promise<void> {
      while (!isOver) {
        hours += GRACE_HOURS + 1;
        await deployment.toTenPast(hours);
        await Promise.all(secrets.map(rotate));
      }
    },
    stop() {
      isOver = true;
    },
  };
};

/** Rotations of a key without pause while an admin revokes or rotates it: the admin wins, and nobody keeps a secret. */
export const rotationStorm: Campaign = {
  name: 'rotation storm',
  async run(options) {
    const { deployment, report, used, scale } = options;
    const statusOf = async (key: string) =>
      (await call(deployment.baseUrl(), { method: 'GET', path: '/v1/key', key }, report))?.status;
    for (let round = 0; round < 2 * Math.ceil(ROUNDS * scale); round += 1) {
      const { id } = await deployment.newSeller('Rotations');
      const flags = ['--plan', 'professional', '--scopes', 'users:read,key:rotate', '--json'];
      const issued = await deployment.admin('keys', 'issue', id, ...flags);
      const [keyId = ''] = /key_[0-9A-Za-z]{22}/.exec(issued) ?? [];
      const thief = thiefOf(options, keyIn(issued));
      used.keys.add(keyIn(issued));
      await thief.atOnce();
      const made = thief.secrets.length - 1;
      report.expect('rotations: one secret of many rotations at once', made === 1, () => `${made}`);

      const isRevoked = round % 2 === 0;
      const command = isRevoked ? ['revoke', keyId] : ['rotate', keyId, '--grace', '0s'];
      const storm = thief.untilStopped();
      const output = await deployment.admin('keys', ...command, '--yes');
      await Promise.all(thief.secrets.map(statusOf));
      thief.stop();
      await storm;
      const statuses = await Promise.all(thief.secrets.map(statusOf));
      report.expect(
        `rotations: no secret of a thief works after an admin's ${command[0]}`,
        statuses.every((status) => status === 401),
        () => statuses.join(' '),
      );
      if (isRevoked) continue;
      const secret = keyIn(output);
      used.keys.add(secret);
      const status = await statusOf(secret);
      report.expect("rotations: the admin's secret works", status === 200, () => `${status}`);
    }
    await deployment.shiftClock(0);
  },
};
