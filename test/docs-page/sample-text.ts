import type { Operation } from '#lib/docs-page/document.ts';
import { type Language, sampleTabs } from '#lib/docs-page/samples.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
};

/** Returns a sample from the markup of its operation, as a reader copies it. */
export const sampleIn = (markup: string, language: Language): string => {
  const [, sample = ''] =
    new RegExp(`<pre data-language="${language}"[^>]*><code>([^]*?)</code>`).exec(markup) ?? [];
  return sample.replace(/<[^>]*>/g, '').replace(/&[#\w]+;/g, (entity) => ENTITIES[entity] ?? entity);
};

/** Returns the sample of an operation in a language. */
export const sampleText = (operation: Operation, language: Language): string =>
  sampleIn(sampleTabs(operation).html, language);
