/** The details that every user of the benchmark is created with. */
export const person = {
  firstname: 'Ada',
  lastname: 'Rivera',
  email: 'ada@example.com',
  dob: '1990-03-27',
  zipcode: '33101',
  phone: '3055550142',
  gender: 'F',
  address: { state: 'FL', zipcode: '33101' },
}
