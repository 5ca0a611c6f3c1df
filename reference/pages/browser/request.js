import { all, base } from './dom.js';

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
