/**
 * The script of the reference page and the guides: search, code samples in one language, and the forms. Requests go to the origin and
 * stage that served the page. A key stays in the memory of the page.
 */
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const { lang, dataset } = document.documentElement;
  const base = new URL(dataset.root, location.href).href.replace(/\/$/, '');
  document.documentElement.classList.add('js');

  /** Shows the address of this deployment in the samples. */
  const showBase = () => {
    const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { data } = texts.currentNode;
      if (data.includes('http://localhost:3000'))
        texts.currentNode.data = data.replaceAll('http://localhost:3000', base);
    }
  };

  /** Selects a language in every block of samples. */
  const setUpSamples = () => {
    for (const tab of all('.samples input')) {
      tab.addEventListener('change', () => {
        for (const other of all(`.samples input[value="${tab.value}"]`)) other.checked = true;
      });
    }
  };

  /** Each button copies the block around it, of the samples the selected one. */
  const setUpCopying = () => {
    for (const button of all('.copy')) {
      button.hidden = false;
      button.addEventListener('click', async () => {
        const block = button.closest('figure, .samples');
        const code = all('pre', block).find((sample) => sample.checkVisibility());
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = lang === 'fa' ? 'رونوشت شد' : 'Copied';
      });
    }
  };

  /** Shows the links whose section, or title, contains every word of the search. */
  const setUpSearch = () => {
    const field = document.getElementById('search');
    if (field === null) return;
    const links = all('.contents li a');
    const textOf = (link) => {
      const section = link.hash === '' ? null : document.getElementById(link.hash.slice(1));
      return `${link.textContent} ${section === null ? '' : section.textContent}`.toLowerCase();
    };
    const texts = new Map(links.map((link) => [link, textOf(link)]));
    field.addEventListener('input', () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      const found = links.filter((link) => words.every((word) => texts.get(link).includes(word)));
      for (const link of links) link.parentElement.hidden = !found.includes(link);
      document.getElementById('found').textContent = words.length === 0 ? '' : `${found.length} found`;
    });
  };

  /** Marks the link of the section in view. On a narrow screen the contents close when a link is followed. */
  const setUpContents = () => {
    const contents = document.querySelector('details.contents');
    if (contents === null) return;
    const narrow = matchMedia('(max-width: 799px)');
    const openIfWide = () => {
      contents.open = !narrow.matches;
    };
    narrow.addEventListener('change', openIfWide);
    openIfWide();
    const links = all('li a[href^="#"]', contents);
    for (const link of links) link.addEventListener('click', openIfWide);
    const observer = new IntersectionObserver(
      (entries) => {
        const entered = entries.find((entry) => entry.isIntersecting);
        if (entered === undefined) return;
        for (const link of links) {
          if (link.hash === `#${entered.target.id}`) link.setAttribute('aria-current', 'true');
          else link.removeAttribute('aria-current');
        }
      },
      { rootMargin: '-10% 0px -85%' },
    );
    for (const link of links) observer.observe(document.getElementById(link.hash.slice(1)));
  };

  const element = (name, text) => Object.assign(document.createElement(name), { textContent: text });

  const indented = (text) => {
    try {
      return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      return text;
    }
  };

  /** Puts the id of a returned user into the forms that take one. */
  const offerId = (text) => {
    const [id] = /usr_\w{22}/.exec(text) ?? [];
    if (id === undefined) return;
    for (const field of all('.try [data-in="path"][name="id"]')) field.value = id;
  };

  const requestOf = (form) => {
    const fields = all('[data-in]', form);
    const valuesIn = (place) => fields.filter((field) => field.dataset.in === place && field.value !== '');
    const query = new URLSearchParams(valuesIn('query').map(({ name, value }) => [name, value]));
    const path = valuesIn('path').reduce(
      (filled, { name, value }) => filled.replace(`{${name}}`, encodeURIComponent(value)),
      form.dataset.path,
    );
    const headers = {};
    for (const { value } of valuesIn('key')) headers['X-Api-Key'] = value.trim();
    const [body] = valuesIn('body');
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    const url = `${base}${path}${query.size === 0 ? '' : `?${query}`}`;
    return new Request(url, { method: form.dataset.method, headers, body: body?.value });
  };

  const send = async (form) => {
    const result = form.querySelector('.result');
    const answer = form.querySelector('.answer');
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
      answer.replaceChildren(element('pre', text === '' ? '(no body)' : indented(text)), headers);
      answer.hidden = false;
      if (response.ok && form.dataset.method !== 'DELETE') offerId(text);
    } catch (error) {
      result.textContent = `The request could not be sent: ${error.message}`;
      result.className = 'result bad';
    }
  };

  /** One key for every form. The service on this machine offers the key of its demo seller. */
  const setUpForms = async () => {
    const keys = all('.try [data-in="key"]');
    const enter = (value) => {
      for (const key of keys) key.value = value;
    };
    for (const key of keys) key.addEventListener('input', () => enter(key.value));
    for (const form of all('.try')) {
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

  showBase();
  setUpSamples();
  setUpCopying();
  setUpSearch();
  setUpContents();
  setUpForms();
})();
