import { SAMPLE_LANGUAGES } from '../sample-programs.ts';
import { colored } from './answer.js';
import { all, element } from './dom.js';
import { objectIn, requestOf } from './request.js';

let selected = 'curl';

/** Writes the sample beside a form: the request of the form in the selected language. A body that is no JSON object changes nothing. */
export const showSample = (form) => {
  const code = form.closest('section').querySelector('.samples code');
  const { method, url, key, token, body } = requestOf(form);
  const object = objectIn(body);
  if (code === null || (body !== undefined && object === undefined)) return;
  const returnsJson = form.dataset.returns !== 'text';
  const takes = { takesKey: key !== undefined, takesToken: token !== undefined };
  const request = { method, url, ...takes, body: object, returnsJson };
  code.replaceChildren(...colored(SAMPLE_LANGUAGES[selected].write(request)));
};

const select = (language) => {
  selected = language;
  for (const tab of all(`.tabs [value="${language}"]`)) tab.checked = true;
  for (const form of all('.try[data-path]')) showSample(form);
};

/** Adds the tabs of the other languages to each sample. A tab selects its language in every sample. */
export const setUpSamples = () => {
  for (const [index, block] of all('.samples').entries()) {
    const tabs = Object.assign(document.createElement('div'), { className: 'tabs', role: 'radiogroup' });
    tabs.ariaLabel = 'Language of the samples';
    for (const [value, { title }] of Object.entries(SAMPLE_LANGUAGES)) {
      const label = document.createElement('label');
      const tab = document.createElement('input');
      Object.assign(tab, { type: 'radio', name: `language-${index}`, value, checked: value === selected });
      tab.addEventListener('change', () => select(value));
      label.append(tab, element('span', title));
      tabs.append(label);
    }
    block.querySelector('figcaption span').replaceWith(tabs);
  }
};
