import { all } from './dom.js';
import { objectIn } from './request.js';
import { showSample } from './samples.js';

/** Keeps the fields of a body and its JSON equal, and the sample equal to both. */
export const setUpTyping = (form) => {
  const fields = all('[data-field]', form);
  const json = form.querySelector('[data-in="body"]');
  for (const field of fields) {
    field.addEventListener('input', () => {
      const { [field.dataset.field]: _, ...others } = objectIn(json.value) ?? {};
      const body =
        field.value === '' ? others : { ...objectIn(json.value), [field.dataset.field]: field.value };
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
