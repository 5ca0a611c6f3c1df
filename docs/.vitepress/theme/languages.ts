import { type DefaultTheme, dataSymbol, useData } from 'vitepress';
import { computed, provide } from 'vue';

/** Lets the language switch lead to the same page where it exists, else to the first page. VitePress has an option for one of the two. */
export const provideLanguages = (): void => {
  const data = useData<DefaultTheme.Config>();
  const site = computed(() => {
    const { locales, localeIndex, themeConfig } = data.site.value;
    const name = data.page.value.relativePath.replace(/^fa\/|\.md$/g, '');
    const [persian] = (themeConfig.sidebar as Record<string, DefaultTheme.SidebarItem[]>)['/fa/'] ?? [];
    if (!persian?.items?.some(({ link }) => link === `/fa/${name}`)) return data.site.value;
    const [other, link] = localeIndex === 'fa' ? ['root', `/${name}`] : ['fa', `/fa/${name}`];
    return { ...data.site.value, locales: { ...locales, [other]: { ...locales[other], link } } };
  });
  provide(dataSymbol, { ...data, site } as ReturnType<typeof useData>);
};
