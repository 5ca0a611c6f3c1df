import { readFileSync } from 'node:fs';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { contentSecurityPolicy } from '#reference/pages/content-security-policy.ts';
import { type Html, html, raw } from '#reference/pages/html.ts';
import {
  PERSON_OUTCOMES,
  PHONE_OUTCOMES,
  testNationalId,
  testPhone,
} from '#shared/providers/test-identities.ts';
import { toLocalPhone } from '#shared/values/phone.ts';
import { newDemoPerson } from '../demo/people.ts';

const readBrowserFile = (name: string): string =>
  readFileSync(new URL(`./browser/${name}`, import.meta.url), 'utf8');

const STYLE = readBrowserFile('page.css');
const SCRIPT = readBrowserFile('page.js');

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': contentSecurityPolicy(STYLE, SCRIPT),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** A provider's switch: the fault names with their meanings, `none` first. */
export interface FaultSwitches {
  readonly providers: readonly { readonly provider: string }[];
  readonly faults: Readonly<Record<string, string>>;
}

const faultSwitch = (provider: string, faults: FaultSwitches['faults']): Html => html`<p>
<label for="fault-${provider}"><code>${provider}</code></label>
<select id="fault-${provider}" name="${provider}">
${Object.entries(faults).map(([name, meaning]) => html`<option value="${name}">${name}: ${meaning}</option>`)}
</select></p>`;

const table = (
  heading: string,
  rows: readonly (readonly [string, string])[],
): Html => html`<div class="scroll"
 tabindex="0" role="region" aria-label="${heading}"><table>
<thead><tr><th scope="col">${heading}</th><th scope="col">outcome</th></tr></thead>
<tbody>${rows.map(([value, outcome]) => html`<tr><td><code>${value}</code></td><td>${outcome}</td></tr>`)}</tbody>
</table></div>`;

/** A new person for each time the page is opened, and the test identities. */
const people = (): Html => {
  const { national_id, birth_date, phone } = newDemoPerson();
  return html`<p>Everybody else matches, for example <code>${national_id}</code>, born <code>${birth_date}</code>, with the phone
<code>${phone}</code>, once a verified code of the buyer app has registered it. <a href="/docs/test-identities">What each outcome means</a></p>
${table(
  'national id',
  PERSON_OUTCOMES.map((outcome) => [testNationalId(outcome), outcome]),
)}
${table(
  'phone',
  PHONE_OUTCOMES.map((outcome) => [toLocalPhone(testPhone(outcome)), outcome]),
)}`;
};

const filter = (name: string, example: string): Html =>
  html`<label>${name} <input id="filter-${name}" placeholder="${example}" autocomplete="off"></label>`;

/** The page that shows what the terminal cannot. Its script fills in messages, requests and the current faults. */
export const localPage = ({ providers, faults }: FaultSwitches): APIGatewayProxyResult => ({
  statusCode: 200,
  headers: HEADERS,
  body: html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Local service</title>
<link rel="icon" href="data:,">
<style>${raw(STYLE)}</style>
</head>
<body>
<header>
<h1>Local service</h1>
<nav aria-label="Parts of this page">
<a href="#messages-heading">Messages</a> <a href="#requests-heading">Requests</a> <a href="#people-heading">People and phones</a>
<a href="#faults-heading">Faults</a> <a href="#reset-heading">Reset</a> <a href="/docs">Docs</a>
</nav>
<p id="status" role="status"></p>
</header>
<main>
<h2 id="messages-heading">Messages</h2>
<p id="no-messages" class="muted">No message was sent since the start.</p>
<ul id="messages" aria-live="polite" aria-labelledby="messages-heading"></ul>
<h2 id="requests-heading">Requests</h2>
<div id="filters" class="controls">${filter('id', '1f0c9a2e')} ${filter('status', '4 or 409')} ${filter('seller', 'sel_…')}</div>
<p id="request-count" class="muted"></p>
<div id="requests"></div>
<h2 id="people-heading">People and phones to test with</h2>
${people()}
<h2 id="faults-heading">Faults of the simulated providers</h2>
<div id="faults">${providers.map(({ provider }) => faultSwitch(provider, faults))}</div>
<h2 id="reset-heading">Reset</h2>
<p>Forgets failed checks, codes, locks and the counts of every limit. Sellers, keys, buyers and users stay.</p>
<p><button id="reset" type="button">Forget checks, codes and counts</button></p>
</main>
<template id="message"><li><span data-is="phone"></span> <span class="muted" data-is="time"></span>
<strong class="code" data-is="code"></strong><button type="button">Copy</button>
<span class="muted" data-is="template"></span><p class="sms" dir="auto" data-is="text"></p></li></template>
<template id="request"><details><summary><span class="muted" data-is="time"></span><span data-is="status"></span>
<span data-is="operation"></span><span class="muted" data-is="duration"></span><span data-is="code"></span></summary>
<p class="muted">Request <code data-is="id"></code></p><pre data-is="detail"></pre></details></template>
<script>${raw(SCRIPT)}</script>
</body>
</html>
`.html,
});
