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
    contents: 'Contents',
    search: 'Search',
    found: '{} found',
    reference: 'Reference',
    guides: 'Guides',
    key: 'Plan and use of a key',
  },
  fa: {
    command: 'دستور',
    response: 'پاسخ',
    output: 'خروجی',
    copy: 'رونوشت',
    onThisPage: 'در این صفحه',
    contents: 'فهرست',
    search: 'جست‌وجو',
    found: '{} مورد یافت شد',
    reference: 'مرجع API',
    guides: 'راهنماها',
    key: 'طرح و مصرف یک کلید',
  },
} as const satisfies Record<Language, object>;
