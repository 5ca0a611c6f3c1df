import { blockOf } from './answer.js';
import { all, element } from './dom.js';
import { objectIn, requestOf, showSample } from './samples.js';

/** Puts a returned access token, or the id of a returned user or link, into the forms that take one. */
const offer = (text) => {
  const [found, token] = /"access_token":"([^"]*)|(?:usr|lnk)_[\w-]{22}/.exec(text) ?? [];
  if (found === undefined) return;
  const place = token ? '[data-in="token"]' : `[data-in="path"][placeholder^="${found.slice(0, 4)}"]`;
  for (const field of all(`.try ${place}`)) {
    field.value = token ?? found;
    showSample(field.form);
  }
};

const fetchOf = (form) => {
  const { method, url, key, token, body } = requestOf(form);
  const headers = {};
  if (key) headers['X-Api-Key'] = key;
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  return fetch(url, { method, headers, body });
};

const send = async (form) => {
  const [button, result, answer] = all('[type="submit"], .result, .answer', form);
  const say = (textContent, color = '') =>
    Object.assign(result, { textContent, className: `result ${color}` });
  button.disabled = true;
  answer.hidden = true;
  say('Sending …');
  try {
    const started = performance.now();
    const response = await fetchOf(form);
    const text = await response.text();
    const duration = Math.round(performance.now() - started);
    say(`${response.status} · ${duration} ms`, response.ok ? 'good' : 'bad');
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
    answer.replaceChildren(
      blockOf('Response', text || '(no body)'),
      element('details', {}, element('summary', {}, 'Headers'), element('pre', {}, headers)),
    );
    answer.hidden = false;
    if (response.ok && form.dataset.method !== 'DELETE') offer(text);
  } catch (error) {
    say(`The request could not be sent: ${error.message}`, 'bad');
  } finally {
    button.disabled = false;
  }
};

/** Keeps the fields of a body and its JSON equal, and the sample equal to both. */
const setUpTyping = (form) => {
  const fields = all('[data-field]', form);
  const json = form.querySelector('[data-in="body"]');
  for (const field of fields) {
    field.addEventListener('input', () => {
      // JSON has no member for a field without a value.
      const body = { ...objectIn(json.value), [field.dataset.field]: field.value || undefined };
      json.value = JSON.stringify(body, null, 2);
    });
  }
  json?.addEventListener('input', () => {
    const body = objectIn(json.value);
    if (body === undefined) return;
    for (const field of fields) field.value = body[field.dataset.field] ?? '';
  });
  form.addEventListener('input', () => showSample(form));
};

/** Sends the forms from the page, with one key for all of them. */
export const setUpForms = () => {
  const keys = all('.try [data-in="key"]');
  for (const field of keys) {
    field.addEventListener('input', () => {
      for (const other of keys) other.value = field.value;
    });
  }
  for (const form of all('.try[data-path]')) {
    setUpTyping(form);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void send(form);
    });
  }
};
