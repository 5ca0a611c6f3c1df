/**
 * The script of the reference page and the guides: search, copying, code samples in one language, and the forms. Requests go to the origin
 * and stage that served the page. A key stays in the memory of the page.
 */
import { setUpCopyButton } from './copying.js';
import { all, base } from './dom.js';
import { setUpForms } from './forms.js';
import { setUpSearch } from './search.js';

/** Shows the address of this deployment in the samples. */
const showBase = () => {
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data } = texts.currentNode;
    if (data.includes('http://localhost:3000'))
      texts.currentNode.data = data.replaceAll('http://localhost:3000', base);
  }
};

/** Selects a language in every block of samples. */
const setUpSamples = () => {
  for (const tab of all('.samples input')) {
    tab.addEventListener('change', () => {
      for (const other of all(`.samples input[value="${tab.value}"]`)) other.checked = true;
    });
  }
};

/** Marks the link of the section in view. On a narrow screen the contents close when a link is followed. */
const setUpContents = () => {
  const contents = document.querySelector('details.contents');
  const narrow = matchMedia('(max-width: 799px)');
  const openIfWide = () => {
    contents.open = !narrow.matches;
  };
  narrow.addEventListener('change', openIfWide);
  openIfWide();
  contents.addEventListener('click', ({ target }) => {
    if (target.closest('a')) openIfWide();
  });
  const links = all('li a[href^="#"]', contents);
  const observer = new IntersectionObserver(
    (entries) => {
      const entered = entries.find((entry) => entry.isIntersecting);
      if (entered === undefined) return;
      for (const link of links) {
        if (link.hash === `#${entered.target.id}`) link.setAttribute('aria-current', 'true');
        else link.removeAttribute('aria-current');
      }
    },
    { rootMargin: '-10% 0px -85%' },
  );
  for (const link of links) observer.observe(document.getElementById(link.hash.slice(1)));
};

document.documentElement.classList.add('js');
showBase();
setUpSamples();
for (const button of all('.copy')) setUpCopyButton(button);
setUpSearch();
setUpContents();
setUpForms();
