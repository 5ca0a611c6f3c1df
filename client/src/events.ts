import type { components } from './generated/openapi.ts';

/** One page of events. */
export type EventPage = components['schemas']['EventPage'];
/** A change of one of your users. `sequence` is its number: store it, and go on after it. */
export type UserEvent = EventPage['data'][number];
