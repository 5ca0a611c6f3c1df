export const address = 'https://address.invalid';
