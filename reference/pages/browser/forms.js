import { blockOf } from './answer.js';
import { all, element } from './dom.js';
import { requestOf } from './request.js';
import { showSample } from './samples.js';
import { setUpTyping } from './typing.js';

/** Puts the id of a returned user or link into the forms that take one. */
const offerId = (text) => {
  const [id] = /(?:usr|lnk)_[\w-]{22}/.exec(text) ?? [];
  if (id === undefined) return;
  for (const field of all(`.try [data-in="path"][placeholder^="${id.slice(0, 4)}"]`)) {
    field.value = id;
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
  const result = form.querySelector('.result');
  const answer = form.querySelector('.answer');
  const button = form.querySelector('[type="submit"]');
  button.disabled = true;
  answer.hidden = true;
  result.className = 'result';
  result.textContent = 'Sending …';
  try {
    const started = performance.now();
    const response = await fetchOf(form);
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

const keyFields = () => all('.try [data-in="key"]');

const enterKey = (value) => {
  for (const field of keyFields()) field.value = value;
};

/** Sends the forms from the page, with one key for all of them. */
export const setUpForms = () => {
  for (const field of keyFields()) field.addEventListener('input', () => enterKey(field.value));
  for (const form of all('.try[data-path]')) {
    setUpTyping(form);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      send(form);
    });
  }
};

/** Enters into each form a key of the demo seller that has the scope of its operation, unless the reader has entered one. */
export const enterDemoKey = (demo) => {
  const fields = keyFields();
  if (demo === undefined || fields.length === 0 || fields[0].value !== '') return;
  for (const field of fields) {
    field.value = demo.keys_by_scope[field.dataset.scope] ?? demo.keys.free;
    field.previousElementSibling.textContent = 'API key of the demo seller';
  }
};
