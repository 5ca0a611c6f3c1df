import { GUIDE_NAMES, type GuideName } from '#shared/docs/files.ts';
import { type Html, html, raw } from './html.ts';

/** The languages of the guides. */
export type Language = 'en' | 'fa';

/** The words around the text of a page. */
export const WORDS = {
  command: { en: 'Command', fa: 'دستور' },
  response: { en: 'Response', fa: 'پاسخ' },
  output: { en: 'Output', fa: 'خروجی' },
  copy: { en: 'Copy', fa: 'کپی' },
  onThisPage: { en: 'On this page', fa: 'در این صفحه' },
  contents: { en: 'Contents', fa: 'فهرست' },
  search: { en: 'Search', fa: 'جستجو' },
  found: { en: '{} found', fa: '{} مورد پیدا شد' },
  reference: { en: 'Reference', fa: 'مرجع API (انگلیسی)' },
  guides: { en: 'Guides', fa: 'راهنماها' },
  neighbors: { en: 'Previous and next', fa: 'صفحهٔ قبلی و بعدی' },
  previous: { en: 'Previous', fa: 'قبلی' },
  next: { en: 'Next', fa: 'بعدی' },
  help: { en: 'Help', fa: 'پشتیبانی' },
  status: { en: 'Status of the service', fa: 'وضعیت سرویس' },
} as const;

/** A page of the menu: a guide, or the page of a key. */
type MenuName = GuideName | 'key';

/** The titles of the pages. The menu of a Persian page says of each other one that it is in English. */
export const TITLES: Readonly<Record<MenuName, Readonly<Record<Language, string>>>> = {
  key: { en: 'Plan and use of a key', fa: 'پلن و مصرف کلید' },
  'quick-start': { en: 'Quick start', fa: 'شروع سریع' },
  'sign-in': { en: 'Sign a buyer in', fa: 'ورود خریدار' },
  linking: { en: 'Linking buyers', fa: 'پیوند خریدارها' },
  'returning-buyer': { en: 'A returning buyer', fa: 'خریداری که برمی‌گردد' },
  'keep-in-step': { en: 'Keep in step', fa: 'همگام ماندن' },
  'access-tokens': { en: 'Access tokens', fa: 'توکن‌های دسترسی' },
  'buyer-app': { en: 'The buyer app', fa: 'اپ خریدار' },
  'typescript-client': { en: 'TypeScript client', fa: 'کلاینت TypeScript' },
  'other-languages': { en: 'A client for your language', fa: 'کلاینت برای زبان شما' },
  errors: { en: 'Errors', fa: 'خطاها' },
  limits: { en: 'Limits', fa: 'محدودیت‌ها' },
  'your-key': { en: 'Your key', fa: 'کلید شما' },
  'test-identities': { en: 'Test identities', fa: 'اطلاعات تستی' },
  'what-there-is-not': { en: 'What there is not', fa: 'آنچه این‌جا نیست' },
  versioning: { en: 'Versions', fa: 'نسخه‌ها' },
  changelog: { en: 'Changelog', fa: 'تغییرات' },
  glossary: { en: 'Glossary', fa: 'واژه‌نامه' },
  'fa/quick-start': { en: 'شروع سریع', fa: 'شروع سریع' },
  'fa/sign-in': { en: 'ورود خریدار', fa: 'ورود خریدار' },
  'fa/linking': { en: 'پیوند خریدارها', fa: 'پیوند خریدارها' },
  'fa/returning-buyer': { en: 'خریداری که برمی‌گردد', fa: 'خریداری که برمی‌گردد' },
  'fa/errors': { en: 'خطاها', fa: 'خطاها' },
  'fa/limits': { en: 'محدودیت‌ها', fa: 'محدودیت‌ها' },
  'fa/your-key': { en: 'کلید شما', fa: 'کلید شما' },
  'fa/test-identities': { en: 'اطلاعات تستی', fa: 'اطلاعات تستی' },
};

export const languageOf = (name: MenuName): Language => (name.startsWith('fa/') ? 'fa' : 'en');

interface Menu {
  readonly current?: MenuName;
  readonly language?: Language;
}

const menuLink = (name: MenuName, { current, language = 'en' }: Menu): Html => {
  const mark = name === current && raw(' aria-current="page"');
  const titleLanguage = language === 'en' && languageOf(name) === 'fa' && raw(' lang="fa"');
  const isEnglish = language === 'fa' && languageOf(name) === 'en' && ' (انگلیسی)';
  return html`<li><a href="{root}/docs/${name}"${mark}${titleLanguage}>${TITLES[name][language]}${isEnglish}</a></li>`;
};

/** Returns a list of a first link and the page of a key. */
export const firstLinks = (href: string, title: string, menu: Menu): Html =>
  html`<ul><li><a href="${href}">${title}</a></li>${menuLink('key', menu)}</ul>`;

export const guideLinks = (menu: Menu): Html =>
  html`<h2>${WORDS.guides[menu.language ?? 'en']}</h2>
<ul>${guidesFrom(menu.language ?? 'en').map((name) => menuLink(name, menu))}</ul>`;

/** Returns the guides in reading order, those of this language first. */
const guidesFrom = (language: Language): readonly GuideName[] => {
  const isOwn = (name: GuideName): boolean => languageOf(name) === language;
  return [...GUIDE_NAMES.filter(isOwn), ...GUIDE_NAMES.filter((name) => !isOwn(name))];
};

/** Returns the panel beside a page: the search, and what `lists` holds. On a phone the page's script closes it. */
export const contents = (lists: readonly Html[], language: Language = 'en'): Html =>
  html`<details class="contents" open>
<summary>${WORDS.contents[language]}</summary>
<nav aria-label="${WORDS.contents[language]}">
<label class="search"><span>${WORDS.search[language]} <kbd aria-hidden="true">/</kbd></span>
<input type="search" id="search" autocomplete="off" aria-keyshortcuts="/ Control+K"></label>
<p id="found" role="status" data-text="${WORDS.found[language]}"></p>
<ul id="results"></ul>
<div id="lists">${lists}</div>
</nav>
</details>`;

/** Returns the panel of a guide or of the page of a key. */
export const guideContents = (menu: Menu = {}): Html => {
  const { language = 'en' } = menu;
  const first = firstLinks('{root}/docs', WORDS.reference[language], menu);
  return contents([first, guideLinks(menu)], language);
};
