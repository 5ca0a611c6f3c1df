/**
 * The script of the reference page and the guides: search, copying, code samples in one language, and the forms. Requests go to the origin
 * and stage that served the page. A key stays in the memory of the page.
 */
import { copyBlock } from './answer.js';
import { showBase, showDemo } from './demo.js';
import { all } from './dom.js';
import { setUpForms } from './forms.js';
import { setUpSamples } from './samples.js';
import { setUpSearch } from './search.js';

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

document.addEventListener('click', ({ target }) => {
  if (target.matches('.copy')) void copyBlock(target);
});
showBase();
setUpSamples();
setUpSearch();
setUpContents();
setUpForms();
void showDemo();
