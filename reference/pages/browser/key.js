/**
 * The script of the page of a key, beside that of every page. It reads the key and its use from the origin and stage that served the page.
 * The key stays in its field, and is forgotten when the reader leaves the page.
 */
import { chartOf } from './chart.js';
import { all, base, element } from './dom.js';
import { durationText, numberText, timeText } from './key-texts.js';

const [form, figures, summary, chart] = all('#key-form, #figures, #summary, #chart');
const [field, button, result] = all('input, button, .result', form);

const FAILURES = {
  401: 'This key is not valid. It is mistyped, revoked or expired, or its account is suspended.',
  403: 'This key lacks the scope for this request.',
  429: 'A limit of this key or of your address is used up.',
  503: 'The service is not available at the moment.',
};

const failureText = ({ status, headers }) => {
  const reason = FAILURES[status] ?? `The service answered with the unexpected status ${status}.`;
  const seconds = headers.get('Retry-After');
  return seconds === null ? reason : `${reason} Try again in ${durationText(Number(seconds))}.`;
};

/** Makes a request with a key. Throws an error that says why it failed. */
const read = async (path, key) => {
  let response;
  try {
    response = await fetch(`${base}${path}`, { headers: { 'X-Api-Key': key } });
    // The time of the service, since the clock of this machine may be wrong.
    if (response.ok) return { ...(await response.json()), nowMs: Date.parse(response.headers.get('Date')) };
  } catch {
    throw new Error('The service could not be reached. Check your connection and try again.');
  }
  throw new Error(failureText(response));
};

const say = (text, isBad = false) => {
  result.textContent = text;
  result.classList.toggle('bad', isBad);
};

/** Fills a table. The first cell of a row is its heading. */
const fill = (id, rows) => {
  const rowOf = ([name, ...cells]) => {
    const row = document.createElement('tr');
    const head = Object.assign(document.createElement('th'), { scope: 'row' });
    head.append(name);
    row.append(
      head,
      ...cells.map((value) => element('td', typeof value === 'number' ? numberText(value) : value)),
    );
    return row;
  };
  document.getElementById(id).replaceChildren(...rows.map(rowOf));
};

const endText = (end) => (end === null ? 'no end' : `ends ${end.slice(0, 16).replace('T', ' ')} UTC`);

const showKey = ({ id, name, seller, plan, scopes, expires_at, secrets, limits }) => {
  const ends = secrets.map(({ last_four, expires_at: end }) => `…${last_four}: ${endText(end)}`);
  fill('key-rows', [
    ['Key', `${name} (${id})`],
    ['Account', `${seller.name} (${seller.id})`],
    ['Plan', plan],
    ['Scopes', scopes.join(', ')],
    ['Expiry', endText(expires_at)],
    ['Valid secrets', ends.join('; ')],
  ]);
  // The first limit is that of the plan. Each name is a link to its row of the limits.
  const limitRow = ({ name, maximum, remaining, resets_in }, index) => [
    Object.assign(element('a', index === 0 ? `${name}: requests per minute` : name), {
      href: `limits#${index === 0 ? 'rate-limit-of-a-plan' : name}`,
    }),
    `${numberText(remaining)} of ${numberText(maximum)}`,
    durationText(resets_in),
  ];
  fill('limit-rows', limits.map(limitRow));
};

const showUse = ({ data, paid_checks, nowMs }) => {
  const columns = all('#hour-columns th')
    .map(({ dataset }) => dataset.count)
    .filter(Boolean);
  const sum = (list, name) => list.reduce((total, { [name]: count }) => total + count, 0);
  fill('total-rows', [
    ['In seven days', ...columns.map((name) => sum(data, name)), sum(paid_checks, 'count')],
  ]);
  fill(
    'hour-rows',
    data.toReversed().map((hour) => [timeText(hour.hour), ...columns.map((name) => hour[name])]),
  );
  fill(
    'day-rows',
    paid_checks.toReversed().map(({ day, count }) => [day, count]),
  );
  summary.textContent = data.length === 0 ? 'Nothing was counted in the last seven days.' : '';
  for (const part of all('[data-if="used"]')) part.hidden = data.length === 0;
  chart.innerHTML = chartOf(data, nowMs);
};

const forget = () => {
  figures.hidden = true;
  button.textContent = 'Show';
  say('');
};

const show = async () => {
  const key = field.value.trim();
  if (!/^\w+$/.test(key)) {
    forget();
    return say('Enter an API key: letters, digits and underscores, such as blk_….', true);
  }
  button.disabled = true;
  say('Loading …');
  try {
    const description = await read('/v1/key', key);
    const usage = await read('/v1/key/usage?days=7', key);
    // The reader changed the key or left the page meanwhile.
    if (field.value.trim() !== key) return say('');
    showKey(description);
    showUse(usage);
    figures.hidden = false;
    // On a phone the chart scrolls. It begins at the last hours.
    chart.scrollLeft = chart.scrollWidth;
    button.textContent = 'Refresh';
    say(`As of ${new Date(description.nowMs).toISOString().slice(11, 19)} UTC.`);
  } catch (error) {
    forget();
    if (field.value.trim() === key) say(error.message, true);
  } finally {
    button.disabled = false;
  }
};

form.addEventListener('submit', (event) => {
  event.preventDefault();
  show();
});
field.addEventListener('input', () => {
  field.previousElementSibling.textContent = 'API key';
  forget();
});
addEventListener('pagehide', () => {
  field.value = '';
  forget();
});
