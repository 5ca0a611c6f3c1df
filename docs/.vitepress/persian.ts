/** The words of the theme on Persian pages. */
export const PERSIAN = {
  nav: [
    { text: 'شروع سریع', link: '/fa/quick-start' },
    { text: 'مرجع API (انگلیسی)', link: '/operations/create-user' },
    { text: 'پلن و مصرف کلید', link: '/key' },
  ],
  outline: { level: [2, 3] as [number, number], label: 'در این صفحه' },
  docFooter: { prev: 'صفحهٔ قبلی', next: 'صفحهٔ بعدی' },
  sidebarMenuLabel: 'فهرست',
  returnToTopLabel: 'بالای صفحه',
  darkModeSwitchLabel: 'ظاهر',
  lightModeSwitchTitle: 'حالت روشن',
  darkModeSwitchTitle: 'حالت تاریک',
  langMenuLabel: 'زبان',
  skipToContentLabel: 'رفتن به متن',
  notFound: {
    title: 'صفحه پیدا نشد',
    quote: 'در این آدرس صفحه‌ای نیست.',
    linkText: 'شروع سریع',
    linkLabel: 'شروع سریع',
  },
};

export const PERSIAN_SEARCH = {
  translations: {
    button: { buttonText: 'جستجو', buttonAriaLabel: 'جستجو' },
    modal: {
      displayDetails: 'نمایش جزئیات',
      resetButtonTitle: 'پاک کردن',
      backButtonTitle: 'بستن',
      noResultsText: 'چیزی پیدا نشد برای',
      footer: { selectText: 'باز کردن', navigateText: 'حرکت', closeText: 'بستن' },
    },
  },
};
