/**
 * The script of the page of a key, beside that of every page. It reads the key and its use from the origin and stage that served the page.
 * The key stays in its field, and is forgotten when the reader leaves the page.
 */
import { chartOf, DAYS } from './chart.ts';
import { chartImage } from './chart-svg.js';
import { all, base, element } from './dom.js';
import { COUNTS, durationText, failureText, numberText, summaryOf, timeText, totalsOf } from './key-texts.ts';

const [form, figures, chart] = all('#key-form, #figures, #chart');
const field = form.querySelector('input');
const button = form.querySelector('button');
const result = form.querySelector('.result');

/** Makes a request with a key. Throws an error that says why it failed. */
const read = async (path, key) => {
  let response;
  try {
    response = await fetch(`${base}${path}`, { headers: { 'X-Api-Key': key } });
    // The time of the service, since the clock of this machine may be wrong.
    if (response.ok) return { body: await response.json(), nowMs: Date.parse(response.headers.get('Date')) };
  } catch {
    throw new Error('The service could not be reached. Check your connection and try again.');
  }
  throw new Error(failureText(response.status, response.headers.get('Retry-After')));
};

const say = (text, isBad = false) => {
  result.textContent = text;
  result.classList.toggle('bad', isBad);
};

const rowOf = (name, cells) => {
  const row = document.createElement('tr');
  const head = Object.assign(document.createElement('th'), { scope: 'row' });
  head.append(name);
  row.append(
    head,
    ...cells.map((value) => element('td', typeof value === 'number' ? numberText(value) : value)),
  );
  return row;
};

const fill = (id, rows) => {
  document.getElementById(id).replaceChildren(...rows.map(([name, ...cells]) => rowOf(name, cells)));
};

const endText = (end) => (end === null ? 'no end' : `ends ${end.slice(0, 16).replace('T', ' ')} UTC`);

const showKey = ({ id, name, seller, plan, scopes, expires_at, secrets }) =>
  fill('key-rows', [
    ['Key', `${name} (${id})`],
    ['Account', `${seller.name} (${seller.id})`],
    ['Plan', plan],
    ['Scopes', scopes.join(', ')],
    ['Expiry', endText(expires_at)],
    [
      'Valid secrets',
      secrets.map(({ last_four, expires_at: end }) => `…${last_four}: ${endText(end)}`).join('; '),
    ],
  ]);

/** The first limit is that of the plan. Each name is a link to its row of the limits. */
const showLimits = (limits) =>
  fill(
    'limit-rows',
    limits.map(({ name, maximum, remaining, resets_in }, index) => {
      const href = `limits#${index === 0 ? 'rate-limit-of-a-plan' : name}`;
      const text = index === 0 ? `${name}: requests per minute` : name;
      const state = `${numberText(remaining)} of ${numberText(maximum)}`;
      return [Object.assign(element('a', text), { href }), state, durationText(resets_in)];
    }),
  );

const showUse = ({ data, paid_checks }, nowMs) => {
  const totals = totalsOf(data);
  const names = Object.keys(COUNTS);
  const paidChecks = paid_checks.reduce((sum, { count }) => sum + count, 0);
  const summary = summaryOf(data);
  document.getElementById('summary').textContent = summary;
  fill('total-rows', [...names.map((name) => [COUNTS[name], totals[name]]), ['Paid checks', paidChecks]]);
  fill(
    'hour-rows',
    data.toReversed().map((hour) => [timeText(Date.parse(hour.hour)), ...names.map((name) => hour[name])]),
  );
  fill(
    'day-rows',
    paid_checks.toReversed().map(({ day, count }) => [day, count]),
  );
  for (const part of all('[data-if="used"]')) part.hidden = data.length === 0;
  chart.replaceChildren(...(data.length === 0 ? [] : [chartImage(chartOf(data, nowMs), summary)]));
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
    const { body, nowMs } = await read('/v1/key', key);
    const usage = await read(`/v1/key/usage?days=${DAYS}`, key);
    // The reader changed the key or left the page meanwhile.
    if (field.value.trim() !== key) return say('');
    showKey(body);
    showLimits(body.limits);
    showUse(usage.body, usage.nowMs);
    if (figures.hidden) {
      figures.hidden = false;
      // On a phone the chart scrolls. It begins at the last hours.
      chart.scrollLeft = chart.scrollWidth;
    }
    button.textContent = 'Refresh';
    say(`As of ${new Date(nowMs).toISOString().slice(11, 19)} UTC.`);
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
