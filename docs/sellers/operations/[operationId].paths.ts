import { operations } from '../../.vitepress/openapi.ts';
import { problemsMarkdown } from '../../.vitepress/operation-markdown.ts';

export default {
  paths: () =>
    operations.map((operation) => ({
      params: {
        operationId: operation.operationId,
        title: operation.summary,
        description: operation.description.split(/(?<=\.) /)[0],
      },
      content: problemsMarkdown(operation),
    })),
};
