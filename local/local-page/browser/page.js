/* The script of the page at /_local: shows the state of the service every second, and changes it. */
const REFRESH_MS = 1000;
const find = (selector) => document.querySelector(selector);

/** Returns a copy of a template with these texts, each in the element of its name. */
const filled = (template, texts) => {
  const element = find(template).content.firstElementChild.cloneNode(true);
  for (const [name, text] of Object.entries(texts))
    element.querySelector(`[data-is="${name}"]`).textContent = text;
  return element;
};

/** Shows items in their order. Elements of earlier items stay, so that what is open or focused stays so. */
const showList = (list, items, { keyOf, elementOf }) => {
  const earlier = new Map([...list.children].map((element) => [element.dataset.key, element]));
  const elements = items.map((item) => {
    const key = keyOf(item);
    const element = earlier.get(key) ?? elementOf(item);
    element.dataset.key = key;
    earlier.delete(key);
    return element;
  });
  for (const element of earlier.values()) element.remove();
  elements.forEach((element, index) => {
    if (list.children[index] !== element) list.insertBefore(element, list.children[index] ?? null);
  });
};

const timeOf = (iso) => new Date(iso).toTimeString().slice(0, 8);

const say = (text, isBad = false) => {
  find('#status').textContent = text;
  find('#status').classList.toggle('bad', isBad);
};

const keyOfMessage = ({ phone, sent_at }) => `${phone} ${sent_at}`;

const messageElement = ({ phone, code, sent_at, provider, template, text }) => {
  const texts = { phone, code, text, time: timeOf(sent_at), template: `${provider} ${template}` };
  const element = filled('#message', texts);
  const button = element.querySelector('button');
  button.setAttribute('aria-label', `Copy the code ${code}`);
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(code);
    say(`Copied ${code}.`);
  });
  return element;
};

const requestElement = ({ id, at, method, path, status, duration_ms, problem, log }) => {
  const element = filled('#request', {
    time: timeOf(at),
    status,
    operation: `${method} ${path ?? '(unknown path)'}`,
    duration: `${duration_ms} ms`,
    code: problem?.code ?? '',
    id,
    detail: JSON.stringify({ ...(problem ? { problem } : {}), ...log }, null, 2),
  });
  element.querySelector('[data-is="status"]').dataset.class = String(status)[0];
  return element;
};

let requests = [];
const showRequests = () => {
  const [id, status, seller] = ['id', 'status', 'seller'].map((name) => find(`#filter-${name}`).value.trim());
  const shown = requests.filter(
    (request) =>
      request.id.startsWith(id) &&
      String(request.status).startsWith(status) &&
      (request.log.seller_id ?? '').startsWith(seller),
  );
  showList(find('#requests'), shown, { keyOf: (request) => request.id, elementOf: requestElement });
  find('#request-count').textContent = `${shown.length} of the last ${requests.length} requests`;
};

const showFaults = (providers) => {
  for (const { provider, fault } of providers) {
    const select = find(`#fault-${provider}`);
    if (document.activeElement !== select) select.value = fault;
  }
};

/** Makes a request to the service. Returns its JSON; undefined, with a line on the page, if it fails. */
const call = async (path, options) => {
  try {
    const response = await fetch(path, options);
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return await response.json();
  } catch (error) {
    say(`The service does not answer (${error.message}): start it again with npm start.`, true);
    return undefined;
  }
};

const refresh = async () => {
  const state = await call('/_local/state');
  if (state === undefined) return;
  if (find('#status').classList.contains('bad')) say('');
  showList(find('#messages'), state.messages, { keyOf: keyOfMessage, elementOf: messageElement });
  find('#no-messages').hidden = state.messages.length > 0;
  requests = state.requests;
  showRequests();
  showFaults(state.providers);
};

for (const input of document.querySelectorAll('#filters input'))
  input.addEventListener('input', showRequests);

for (const select of document.querySelectorAll('#faults select')) {
  select.addEventListener('change', async () => {
    const body = JSON.stringify({ provider: select.name, fault: select.value });
    const headers = { 'Content-Type': 'application/json' };
    const set = await call('/_local/faults', { method: 'POST', headers, body });
    if (set !== undefined) say(`${select.name}: ${set.faults[select.value]}`);
  });
}

find('#reset').addEventListener('click', async () => {
  const reset = await call('/_local/reset', { method: 'POST' });
  if (reset === undefined) return;
  say(`Forgot ${reset.forgotten} checks, codes and counts.`);
  await refresh();
});

const keepFresh = async () => {
  if (!document.hidden) await refresh();
  setTimeout(keepFresh, REFRESH_MS);
};
keepFresh();
