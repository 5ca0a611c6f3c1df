/** The local service as a process of its own, so that its memory can be measured. Its parent says when to stop. */
import { startService } from '#local/service.ts';

const service = await startService({
  port: 0,
  folder: process.argv[2] as string,
  inMemory: true,
  databaseEndpoint: process.env.DYNAMODB_ENDPOINT,
  onProgress: () => {},
  onCompleted: () => {},
  onMessage: () => {},
});

process.on('message', async (message) => {
  if (message === 'stop') {
    await service.stop();
    process.exit();
  }
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  process.send?.({ heapUsed, rss });
});
process.send?.('ready');
