import { blockOf } from './answer.js';
import { all, base, element } from './dom.js';
import { queryOf, setUpTyping, showInSamples } from './typing.js';

/** Puts the id of a returned user into the forms that take one. */
const offerId = (text) => {
  const [id] = /usr_\w{22}/.exec(text) ?? [];
  if (id === undefined) return;
  for (const field of all('.try [data-in="path"][name="id"]')) {
    field.value = id;
    showInSamples(field.form);
  }
};

const requestOf = (form) => {
  const fields = all('[data-in]', form);
  const valuesIn = (place) => fields.filter((field) => field.dataset.in === place && field.value !== '');
  const path = valuesIn('path').reduce(
    (filled, { name, value }) => filled.replace(`{${name}}`, encodeURIComponent(value)),
    form.dataset.path,
  );
  const headers = {};
  for (const { value } of valuesIn('key')) headers['X-Api-Key'] = value.trim();
  const [body] = valuesIn('body');
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const url = `${base}${path}${queryOf(form)}`;
  return new Request(url, { method: form.dataset.method, headers, body: body?.value });
};

const send = async (form) => {
  const result = form.querySelector('.result');
  const answer = form.querySelector('.answer');
  const button = form.querySelector('[type="submit"]');
  button.disabled = true;
  answer.hidden = true;
  result.className = 'result';
  result.textContent = 'Sending …';
  try {
    const started = performance.now();
    const response = await fetch(requestOf(form));
    const text = await response.text();
    result.textContent = `${response.status} · ${Math.round(performance.now() - started)} ms`;
    result.className = `result ${response.ok ? 'good' : 'bad'}`;
    const headers = document.createElement('details');
    const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`);
    headers.append(element('summary', 'Headers'), element('pre', lines.join('\n')));
    answer.replaceChildren(blockOf('Response', text === '' ? '(no body)' : text), headers);
    answer.hidden = false;
    if (response.ok && form.dataset.method !== 'DELETE') offerId(text);
  } catch (error) {
    result.textContent = `The request could not be sent: ${error.message}`;
    result.className = 'result bad';
  } finally {
    button.disabled = false;
  }
};

/** One key for every form. The service on this machine offers the key of its demo seller. */
export const setUpForms = async () => {
  const keys = all('.try [data-in="key"]');
  const enter = (value) => {
    for (const key of keys) key.value = value;
  };
  for (const key of keys) key.addEventListener('input', () => enter(key.value));
  for (const form of all('.try[data-path]')) {
    setUpTyping(form);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      send(form);
    });
  }
  if (keys.length === 0 || !['localhost', '127.0.0.1', '[::1]'].includes(location.hostname)) return;
  const response = await fetch(`${base}/_local/demo`);
  if (!response.ok || keys[0].value !== '') return;
  enter((await response.json()).keys.free);
  for (const key of keys) key.previousElementSibling.textContent = 'API key of the demo seller';
};
