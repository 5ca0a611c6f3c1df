/** The languages of the guides. */
export type Language = 'en' | 'fa';

/** The words around the text of a guide. */
export const WORDS = {
  en: {
    command: 'Command',
    response: 'Response',
    output: 'Output',
    copy: 'Copy',
    onThisPage: 'On this page',
  },
  fa: {
    command: 'دستور',
    response: 'پاسخ',
    output: 'خروجی',
    copy: 'رونوشت',
    onThisPage: 'در این صفحه',
  },
} as const satisfies Record<Language, object>;
