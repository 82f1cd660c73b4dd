package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Benefits sends requests with a token that it renews, and again under the same key while the service cannot answer:
// api.NewClientWithResponses(baseURL, api.WithHTTPClient(&benefits)). It is for one goroutine at a time.
type Benefits struct {
	BaseURL, ID, Secret, Key, token string
	renewAt                         time.Time
}

func (b *Benefits) Do(request *http.Request) (*http.Response, error) {
	for attempt := 0; ; attempt++ {
		if err := b.renew(); err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+b.token)
		request.Header.Set("x-api-key", b.Key)
		answer, err := http.DefaultClient.Do(request)
		mayRepeat := attempt < 4 && request.Header.Get("Idempotency-Key") != ""
		if !mayRepeat || err == nil && !strings.Contains("408 429 500 502 503 504", strconv.Itoa(answer.StatusCode)) {
			return answer, err
		}
		wait := 500 * time.Millisecond << attempt
		if err == nil {
			asked, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
			wait = max(wait, time.Duration(asked)*time.Second)
			answer.Body.Close()
		}
		time.Sleep(wait)
		request.Body, _ = request.GetBody()
	}
}

func (b *Benefits) renew() error {
	if time.Now().Before(b.renewAt) {
		return nil
	}
	form := strings.NewReader(url.Values{"grant_type": {"client_credentials"}}.Encode())
	request, _ := http.NewRequest("POST", b.BaseURL+"/oauth2/token", form)
	request.SetBasicAuth(b.ID, b.Secret)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var issued struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int    `json:"expires_in"`
	}
	if answer.StatusCode != 200 || json.NewDecoder(answer.Body).Decode(&issued) != nil {
		return fmt.Errorf("no token: %s", answer.Status)
	}
	b.token, b.renewAt = issued.AccessToken, time.Now().Add(time.Duration(issued.ExpiresIn-60)*time.Second)
	return nil
}
