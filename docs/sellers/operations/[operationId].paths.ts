import { operations } from '../../.vitepress/openapi.ts';

export default {
  paths: () =>
    operations.map(({ operationId, summary, description }) => ({
      params: { operationId, summary, description },
    })),
};
