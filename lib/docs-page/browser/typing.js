import { all } from './dom.js';

const inJson = (text) => JSON.stringify(text).slice(1, -1);

/** How a value is written within the quotes of a sample, by its language. */
const WRITTEN = {
  curl: (text) => inJson(text).replaceAll("'", "'\\''"),
  typescript: (text) => inJson(text).replaceAll('\\"', '"').replaceAll("'", "\\'"),
  python: inJson,
  php: (text) => text.replace(/[\\']/g, '\\$&'),
};

/** Returns the body as an object; undefined if it is no JSON object. */
const objectIn = (text) => {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** Returns the query of a form, with its question mark. */
export const queryOf = (form) => {
  const fields = all('[data-in="query"]', form).filter(({ value }) => value !== '');
  const query = new URLSearchParams(fields.map(({ name, value }) => [name, value]));
  return query.size === 0 ? '' : `?${query}`;
};

/** Writes what is typed into a form into the samples beside it. A value that is missing stays the example. */
export const showInSamples = (form) => {
  const body = objectIn(form.querySelector('[data-in="body"]')?.value);
  for (const mark of all('.samples [data-typed]', form.closest('section'))) {
    const [place, name] = mark.dataset.typed.split('.');
    mark.dataset.example ??= mark.textContent;
    const write = WRITTEN[mark.closest('pre').dataset.language];
    const typed = {
      path: () => encodeURIComponent(form.querySelector(`[data-in="path"][name="${name}"]`).value),
      query: () => queryOf(form),
      body: () => write(String(body?.[name] ?? '')),
    }[place]();
    mark.textContent =
      place !== 'query' && typed === ''
        ? mark.dataset.example
        : place === 'body'
          ? typed
          : typed.replaceAll("'", '%27');
  }
};

/** Keeps the fields of a body and its JSON equal, and the samples equal to both. */
export const setUpTyping = (form) => {
  const fields = all('[data-field]', form);
  const json = form.querySelector('[data-in="body"]');
  for (const field of fields) {
    field.addEventListener('input', () => {
      const { [field.dataset.field]: _, ...others } = objectIn(json.value) ?? {};
      const body =
        field.value === '' ? others : { ...objectIn(json.value), [field.dataset.field]: field.value };
      json.value = JSON.stringify(body, null, 2);
    });
  }
  json?.addEventListener('input', () => {
    const body = objectIn(json.value);
    if (body === undefined) return;
    for (const field of fields) field.value = body[field.dataset.field] ?? '';
  });
  form.addEventListener('input', () => showInSamples(form));
};
