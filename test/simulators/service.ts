/** The service of `npm start` that calls simulated providers. Arguments: the data folder, and the file of the provider secret with their addresses. */
import { runService } from '#local/run.ts';

const [folder = '', providerSecretFile] = process.argv.slice(2);
const providers = {
  PROVIDER_SECRET: `file:${providerSecretFile}`,
  IDENTITY_PROVIDERS: 'jibit,zohal',
  SMS_PROVIDERS: 'kavenegar,sms-ir',
};
process.exit(await runService({ port: 0, folder, inMemory: false, providers }));
