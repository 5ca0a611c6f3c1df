import { SAMPLE_LANGUAGES } from '../sample-programs.ts';
import { colored } from './answer.js';
import { all, base, element } from './dom.js';

/** Returns the body as an object; undefined if it is no JSON object. */
export const objectIn = (text) => {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** Returns the request of a form: its method, URL, key, access token and body, the last three undefined where the operation takes none. */
export const requestOf = (form) => {
  const fields = all('[data-in]', form);
  const fieldsIn = (place) => fields.filter((field) => field.dataset.in === place);
  const path = fieldsIn('path').reduce(
    (filled, { name, value, placeholder }) =>
      filled.replace(`{${name}}`, encodeURIComponent(value || placeholder).replaceAll("'", '%27')),
    form.dataset.path,
  );
  const filled = fieldsIn('query').filter(({ value }) => value !== '');
  const query = new URLSearchParams(filled.map(({ name, value }) => [name, value]));
  return {
    method: form.dataset.method,
    url: `${base}${path}${query.size === 0 ? '' : `?${query}`}`,
    key: fieldsIn('key')[0]?.value.trim(),
    token: fieldsIn('token')[0]?.value.trim(),
    body: fieldsIn('body')[0]?.value,
  };
};

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
  for (const [index, caption] of all('.samples figcaption span').entries()) {
    const tabs = Object.entries(SAMPLE_LANGUAGES).map(([value, { title }]) => {
      const properties = { type: 'radio', name: `language-${index}`, value, checked: value === selected };
      const tab = element('input', { ...properties, onchange: () => select(value) });
      return element('label', {}, tab, element('span', {}, title));
    });
    const group = { className: 'tabs', role: 'radiogroup', ariaLabel: 'Language of the samples' };
    caption.replaceWith(element('div', group, ...tabs));
  }
};
