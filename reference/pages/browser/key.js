/**
 * The script of the page of a key, beside that of every page. It reads the key and its use from the origin and stage that served the page.
 * The key stays in its field, and is forgotten when the reader leaves the page.
 */
import { chartOf, numberText, timeText } from './chart.js';
import { all, base, element } from './dom.js';

const [withoutScript, form, figures, summary, used, chart] = all(
  '#without-script, #key-form, #figures, #summary, #used, #chart',
);
const [field, button, result] = all('input, button, .result', form);

/** Returns `23 s`, `41 min` or `5 h 12 min`, rounded up. */
const durationText = (seconds) => {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};

/** Makes a request with a key. Throws an error that says why it failed. */
const read = async (path, key) => {
  const response = await fetch(`${base}${path}`, { headers: { 'X-Api-Key': key } }).catch(() => undefined);
  const body = await response?.json().catch(() => undefined);
  // The time of the service, since the clock of this machine may be wrong.
  if (body && response.ok) return { ...body, nowMs: Date.parse(response.headers.get('Date')) };
  const reason = body?.detail ?? 'The service could not be reached. Check your connection and try again.';
  const seconds = response?.headers.get('Retry-After');
  throw new Error(seconds ? `${reason} Try again in ${durationText(Number(seconds))}.` : reason);
};

const say = (text, isBad = false) => {
  result.textContent = text;
  result.classList.toggle('bad', isBad);
};

/** Fills a table. The first cell of a row is its heading. */
const fill = (id, rows) => {
  const rowOf = ([heading, ...values]) => {
    const texts = values.map((value) => (typeof value === 'number' ? numberText(value) : value));
    const cells = texts.map((text) => element('td', {}, text));
    return element('tr', {}, element('th', { scope: 'row' }, heading), ...cells);
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
  const limitRow = ({ name, maximum, remaining, resets_in }, index) => {
    const [text, id] = index === 0 ? [`${name}: requests per minute`, 'rate-limit-of-a-plan'] : [name, name];
    const left = `${numberText(remaining)} of ${numberText(maximum)}`;
    return [element('a', { href: `${base}/docs/limits#${id}` }, text), left, durationText(resets_in)];
  };
  fill('limit-rows', limits.map(limitRow));
};

const showUse = ({ data, paid_checks, nowMs }) => {
  const columns = all('#hour-columns [data-count]');
  const names = columns.map(({ dataset }) => dataset.count);
  const sum = (list, name) => list.reduce((total, item) => total + item[name], 0);
  const totals = columns.map(({ textContent, dataset }) => [textContent, sum(data, dataset.count)]);
  const hours = data.map((hour) => [timeText(hour.hour), ...names.map((name) => hour[name])]);
  const days = paid_checks.map(({ day, count }) => [day, count]);
  fill('total-rows', [...totals, ['Paid checks', sum(paid_checks, 'count')]]);
  fill('hour-rows', hours.reverse());
  fill('day-rows', days.reverse());
  summary.textContent = data.length === 0 ? 'Nothing was counted in the last seven days.' : '';
  used.hidden = data.length === 0;
  chart.innerHTML = chartOf(data, nowMs);
};

const forget = () => {
  figures.hidden = true;
  button.textContent = 'Show';
  say('');
};

const show = async (event) => {
  event.preventDefault();
  const key = field.value.trim();
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

withoutScript.hidden = true;
form.addEventListener('submit', show);
field.addEventListener('input', () => {
  field.previousElementSibling.textContent = 'API key';
  forget();
});
addEventListener('pagehide', () => {
  field.value = '';
  forget();
});
